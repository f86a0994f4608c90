/* The formats, each in its own file. */
#ifndef FORMATS_READ_TABLE_H
#define FORMATS_READ_TABLE_H

#include "formats/formats.h"

extern const struct foreign_format foreign_python_v1;
extern const struct foreign_format foreign_python_v0;
extern const struct foreign_format foreign_session_json;
extern const struct foreign_format foreign_vertex;
extern const struct foreign_format foreign_javascript;
extern const struct foreign_format foreign_python_sqlite;
extern const struct foreign_format foreign_go;
extern const struct foreign_format foreign_rust;
extern const struct foreign_format foreign_openai;
extern const struct foreign_format foreign_openai_branches;

#endif
