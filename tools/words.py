#!/usr/bin/env python3
"""Makes lib/model/words/word_table.h: the characters of words, and how they are folded, from this Python's Unicode tables.

    python3 tools/words.py > lib/model/words/word_table.h
"""
import sys
import unicodedata

BREAK, WORD, ALONE, NOTHING = 0, 1, 2, 3

# Scripts that are written without spaces between words, by the beginnings of the names of their characters.
WITHOUT_SPACES = ("CJK ", "HANGUL ", "HIRAGANA ", "KATAKANA", "COMBINING KATAKANA-HIRAGANA", "HALFWIDTH KATAKANA",
                  "HALFWIDTH HANGUL", "BOPOMOFO", "THAI ", "LAO ", "KHMER ", "MYANMAR ", "IDEOGRAPHIC ", "YI ", "TANGUT ",
                  "NUSHU ", "TAI LE ", "NEW TAI LUE ", "TAI THAM ", "TAI VIET ", "JAVANESE ", "BALINESE ")


def kind(code: int) -> int:
    """Whether a character breaks words, belongs to one, is one by itself, or is as if it were not there."""
    character = chr(code)
    category = unicodedata.category(character)
    if 0x300 <= code < 0x370 or 0xFE00 <= code < 0xFE10 or 0xE0100 <= code < 0xE01F0 or category == "Cf":
        return NOTHING  # accents, variants, soft hyphens, joiners
    if code in (0xFFFC, 0xFFFD) or (category[0] not in "LNM" and category not in ("So", "Co")):
        return BREAK
    name = unicodedata.name(character, "")
    if category == "So" or name.startswith(WITHOUT_SPACES):
        return ALONE
    return WORD


def folded(code: int) -> int:
    """The small letter without accents, of the usual width."""
    width, *usual = unicodedata.decomposition(chr(code)).split() or [""]
    if kind(code) == ALONE and width in ("<narrow>", "<wide>"):
        return int(usual[0], 16)
    if kind(code) != WORD or not unicodedata.category(chr(code))[0] in "LN":
        return code
    text = chr(code).casefold()
    if len(text) != 1:
        text = chr(code).lower()
    if len(text) != 1:
        text = chr(code)
    if 0xFF01 <= ord(text) <= 0xFF5E:
        text = chr(ord(text) - 0xFEE0).casefold()
    parts = unicodedata.normalize("NFD", text)
    if all(0x300 <= ord(mark) < 0x370 for mark in parts[1:]):
        small = parts[0].casefold()
        text = small if len(small) == 1 else parts[0]  # the letter under a dot may still be a capital
    return ord(text)


def runs() -> list[int]:
    changes = []
    before = -1
    for code in range(0x80, sys.maxunicode + 1):
        now = BREAK if 0xD800 <= code < 0xE000 else kind(code)
        if now != before:
            changes.append(code << 2 | now)
            before = now
    return changes


def folds() -> list[tuple[int, int, int, int]]:
    """Runs of characters, each so many after the one before, that are folded by the same distance."""
    found: list[tuple[int, int, int, int]] = []
    for code in range(0x80, sys.maxunicode + 1):
        if 0xD800 <= code < 0xE000:
            continue
        to = folded(code)
        if to == code:
            continue
        if found:
            first, last, step, distance = found[-1]
            gap = code - last
            if distance == to - code and (gap == step or (first == last and gap <= 2)):
                found[-1] = (first, code, gap, distance)
                continue
        found.append((code, code, 1, to - code))
    return found


def main() -> None:
    print(f"""/*
 * The characters of words above ASCII, of Unicode {unicodedata.unidata_version}. Made by tools/words.py.
 */
#ifndef SESLITE_MODEL_WORDS_WORD_TABLE_H
#define SESLITE_MODEL_WORDS_WORD_TABLE_H

#include <stdint.h>

/* clang-format off */
/* Where a run of characters of one kind begins: the code point times 4, plus the kind. */
static const uint32_t word_runs[] = {{""")
    changes = runs()
    for at in range(0, len(changes), 12):
        print("    " + " ".join(f"0x{change:x}," for change in changes[at : at + 12]))
    print("""};

/* Characters that are folded: the first and the last of a run, how far they are apart, and how far each is from its folded
 * form. */
static const struct word_fold {
    uint32_t first;
    uint32_t last;
    int32_t step;
    int32_t distance;
} word_folds[] = {""")
    lines = folds()
    for at in range(0, len(lines), 4):
        print("    " + " ".join(f"{{0x{a:x}, 0x{b:x}, {c}, {d}}}," for a, b, c, d in lines[at : at + 4]))
    print("""};
/* clang-format on */

#endif""")


main()
