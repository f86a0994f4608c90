/* SHA-256 for a content security policy. */
#ifndef HTML_SHA256_H
#define HTML_SHA256_H

#include <stddef.h>

enum { SHA256_BASE64_SIZE = 45 };

/* The hash of the bytes, in base64. */
void sha256_base64(const char *data, size_t len, char base64[SHA256_BASE64_SIZE]);

#endif
