#!/usr/bin/env python3
"""Makes lib/agent/identifier_table.h: the characters of identifiers, as this Python's str.isidentifier has them.

    python3 tools/identifiers.py > lib/agent/identifier_table.h
"""
import sys
import unicodedata

STARTS, CONTINUES = 2, 1


def kind(code: int) -> int:
    if 0xD800 <= code < 0xE000:
        return 0
    character = chr(code)
    return STARTS * character.isidentifier() | CONTINUES * ("a" + character).isidentifier()


def main() -> None:
    changes = []
    before = -1
    for code in range(0x80, sys.maxunicode + 1):
        now = kind(code)
        if now != before:
            changes.append(code << 2 | now)
            before = now
    print(f"""/*
 * The characters above ASCII that an identifier may contain (XID_Start and XID_Continue of Unicode {unicodedata.unidata_version}).
 * Made by tools/identifiers.py. Each number is where a run begins: the code point times 4, plus 2 if these
 * characters may begin an identifier, plus 1 if they may continue one.
 */
#ifndef SESLITE_AGENT_IDENTIFIER_TABLE_H
#define SESLITE_AGENT_IDENTIFIER_TABLE_H

#include <stdint.h>

/* clang-format off */
static const uint32_t identifier_runs[] = {{""")
    for at in range(0, len(changes), 12):
        print("    " + " ".join(f"0x{change:x}," for change in changes[at : at + 12]))
    print("""};
/* clang-format on */

#endif""")


main()
