/*
 * The stored form of a sheet: four bytes with a CRC-32 of the head and of the numbers of its row, so that no row is taken for
 * another or read after it was damaged; the head; and the calls. The head has four bytes with a CRC-32 of the calls, the
 * number of models, and of each the length of its name, the name, and its sums. Where sums are all that is asked, the calls
 * are not read.
 *
 * Sums begin with a byte, which has a bit for each count that is not 0 (1 << USAGE_...), and TOTAL_IS_SUM. Then come twice the
 * number of calls (and 1 if some have odd counts, whose number follows), the distance of the earliest time from that of the
 * model before, the distance of the latest from that, and the counts.
 *
 * A call begins with such a byte, of the counts that it has. Then come the distance of its number from that of the call
 * before, twice its model (and 1 if it has odd counts, whose number follows), the distance in time, at first from the earliest
 * of the first model, and the counts. All numbers have 7 bits a byte, the lowest first. Those that may be negative have their
 * sign in the lowest bit.
 */
#include "base/crc32.h"
#include "model/event/timestamp.h"
#include "model/usage/usage.h"

enum {
    SUM_BYTES = 4,
    HEAD_AT = SUM_BYTES,
    SUMS_AT = 2 * SUM_BYTES,
    TOTAL_IS_SUM = 1 << USAGE_COUNTS,
    ALL_FLAGS = 2 * TOTAL_IS_SUM - 1
};

void ses__usage_sheet_begin(struct usage_sheet *sheet, int64_t session_id, int64_t first)
{
    sheet->session_id = session_id;
    sheet->first = first;
    sheet->last = first - 1;
    sheet->model_count = 0;
    sheet->count = 0;
    sheet->packed = (struct span){NULL, 0};
}

bool ses__usage_sheet_add(struct usage_sheet *sheet, const struct usage_call *call, struct span model,
                          struct arena *arena)
{
    struct usage_call *added = &sheet->calls[sheet->count];
    uint32_t at = 0;

    while (at < sheet->model_count && !ses__span_is(sheet->models[at], model))
        at++;
    if (at == sheet->model_count) {
        const char *name = ses__arena_text(arena, model.ptr, model.len);
        if (!name)
            return false;
        sheet->models[sheet->model_count++] = (struct span){name, model.len};
    }
    *added = *call;
    added->model = at;
    sheet->count++;
    return true;
}

/* ----------------------------------------------------------------------------------------------- writing */

static uint32_t sheet_sum(const struct usage_sheet *sheet, const struct crc32_tables *sums, struct span rest)
{
    const int64_t numbers[] = {sheet->session_id, sheet->first, sheet->last};
    char head[sizeof numbers];

    for (size_t i = 0; i < sizeof head; i++)
        head[i] = (char)((uint64_t)numbers[i / 8] >> 8 * (i % 8) & 0xFF);
    return ses__crc32(sums, ses__crc32(sums, 0, head, sizeof head), rest.ptr, rest.len);
}

static void pack_number(struct buffer *bytes, uint64_t number)
{
    char text[10];
    size_t len = 0;

    for (; number > 0x7F; number >>= 7)
        text[len++] = (char)(number | 0x80);
    text[len++] = (char)number;
    ses__buffer_add(bytes, text, len);
}

static uint64_t folded(int64_t number)
{
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

static int64_t unfolded(uint64_t number)
{
    return (int64_t)(number >> 1 ^ (number & 1 ? UINT64_MAX : 0));
}

/* Most totals are this sum, and are not stored then. The cached tokens are among those of the prompt. */
static int64_t sum_of_parts(const int64_t counts[USAGE_COUNTS])
{
    static const enum usage_count parts[] = {USAGE_PROMPT, USAGE_CANDIDATES, USAGE_THOUGHTS, USAGE_TOOL_USE};
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        sum += counts[parts[i]] > 0 ? counts[parts[i]] : 0;
    return sum;
}

static unsigned without_sum(unsigned flags, const int64_t counts[USAGE_COUNTS])
{
    const bool is_sum = flags & 1U << USAGE_TOTAL && counts[USAGE_TOTAL] == sum_of_parts(counts);
    return is_sum ? flags ^ (TOTAL_IS_SUM | 1U << USAGE_TOTAL) : flags;
}

static void pack_counts(struct buffer *bytes, unsigned flags, const int64_t counts[USAGE_COUNTS])
{
    for (unsigned i = 0; i < USAGE_COUNTS; i++)
        if (flags & 1U << i)
            pack_number(bytes, (uint64_t)counts[i]);
}

/* Twice the number, and 1 if some counts are odd, whose number follows. */
static void pack_with_odd(struct buffer *bytes, uint64_t number, int64_t odd)
{
    pack_number(bytes, 2 * number + (odd > 0));
    if (odd > 0)
        pack_number(bytes, (uint64_t)odd);
}

static void pack_call(struct buffer *bytes, const struct usage_call *call, int64_t seq, int64_t time_us)
{
    unsigned flags = 0;

    for (unsigned i = 0; i < USAGE_COUNTS; i++)
        flags |= call->counts[i] >= 0 ? 1U << i : 0;
    flags = without_sum(flags, call->counts);
    pack_number(bytes, flags);
    pack_number(bytes, (uint64_t)(call->seq - seq));
    pack_with_odd(bytes, call->model, call->odd);
    pack_number(bytes, folded(call->time_us - time_us));
    pack_counts(bytes, flags, call->counts);
}

static void pack_sums(struct buffer *bytes, const struct usage_sums *sums, int64_t time_us)
{
    unsigned flags = 0;

    for (unsigned i = 0; i < USAGE_COUNTS; i++)
        flags |= sums->counts[i] > 0 ? 1U << i : 0;
    flags = without_sum(flags, sums->counts);
    pack_number(bytes, flags);
    pack_with_odd(bytes, (uint64_t)sums->calls, sums->odd);
    pack_number(bytes, folded(sums->first_us - time_us));
    pack_number(bytes, (uint64_t)(sums->last_us - sums->first_us));
    pack_counts(bytes, flags, sums->counts);
}

/* Adds the calls up, for each model. */
static void sum_up(const struct usage_sheet *sheet, struct usage_sums sums[USAGE_SHEET_CALLS])
{
    memset(sums, 0, sheet->model_count * sizeof *sums);
    for (size_t i = 0; i < sheet->count; i++) {
        const struct usage_call *call = &sheet->calls[i];
        struct usage_sums *own = &sums[call->model];
        if (own->calls == 0 || call->time_us < own->first_us)
            own->first_us = call->time_us;
        if (own->calls == 0 || call->time_us > own->last_us)
            own->last_us = call->time_us;
        own->calls++;
        own->odd += call->odd;
        for (int c = 0; c < USAGE_COUNTS; c++)
            own->counts[c] += call->counts[c] > 0 ? call->counts[c] : 0;
    }
}

static void put_sum(char *at, uint32_t sum)
{
    for (int i = 0; i < SUM_BYTES; i++)
        at[i] = (char)(sum >> 8 * i & 0xFF);
}

static int64_t pack_head(const struct usage_sheet *sheet, struct buffer *bytes)
{
    struct usage_sums sums[USAGE_SHEET_CALLS];
    int64_t time_us = 0;

    sum_up(sheet, sums);
    pack_number(bytes, sheet->model_count);
    for (size_t i = 0; i < sheet->model_count; i++) {
        pack_number(bytes, sheet->models[i].len);
        ses__buffer_add(bytes, sheet->models[i].ptr, sheet->models[i].len);
        pack_sums(bytes, &sums[i], time_us);
        time_us = sums[i].first_us;
    }
    return sheet->model_count > 0 ? sums[0].first_us : 0;
}

void ses__usage_sheet_write(const struct usage_sheet *sheet, const struct crc32_tables *sums,
                            struct buffer *bytes)
{
    const size_t start = bytes->len;
    int64_t seq = sheet->first - 1;

    ses__buffer_add(bytes, "\0\0\0\0\0\0\0\0", SUMS_AT);
    int64_t time_us = pack_head(sheet, bytes);
    const size_t calls = bytes->len;
    for (size_t i = 0; i < sheet->count; i++) {
        pack_call(bytes, &sheet->calls[i], seq, time_us);
        seq = sheet->calls[i].seq;
        time_us = sheet->calls[i].time_us;
    }
    if (bytes->failed)
        return;
    char *const at = bytes->data + start;
    const struct span head = {at + HEAD_AT, calls - start - HEAD_AT};
    put_sum(at + HEAD_AT, ses__crc32(sums, 0, bytes->data + calls, bytes->len - calls));
    put_sum(at, sheet_sum(sheet, sums, head));
}

/* ----------------------------------------------------------------------------------------------- reading */

/* The bytes that are left. */
struct sheet_reader {
    const unsigned char *at;
    const unsigned char *end;
    bool wrong;
};

static ALWAYS_INLINE uint64_t unpack_number(struct sheet_reader *reader)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        const unsigned byte = *reader->at++;
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (LIKELY(byte < 0x80))
            return number;
    }
    reader->wrong = true;
    return 0;
}

static ALWAYS_INLINE void unpack_counts(int64_t counts[USAGE_COUNTS], unsigned flags, int64_t most,
                                        int64_t absent, struct sheet_reader *reader)
{
    for (unsigned i = 0; i < USAGE_COUNTS; i++) {
        const uint64_t count = flags & 1U << i ? unpack_number(reader) : 0;
        reader->wrong = reader->wrong || count > (uint64_t)most;
        counts[i] = flags & 1U << i ? (int64_t)count : absent;
    }
    if (flags & TOTAL_IS_SUM)
        counts[USAGE_TOTAL] = sum_of_parts(counts);
}

static bool unpack_sums(struct usage_sums *sums, int64_t time_us, struct sheet_reader *reader)
{
    const uint64_t flags = unpack_number(reader);
    const uint64_t calls = unpack_number(reader);
    const uint64_t odd = calls & 1 ? unpack_number(reader) : 0;

    sums->first_us = (int64_t)((uint64_t)time_us + (uint64_t)unfolded(unpack_number(reader)));
    sums->last_us = (int64_t)((uint64_t)sums->first_us + unpack_number(reader));
    if (flags > ALL_FLAGS || calls / 2 == 0 || calls / 2 > USAGE_SHEET_CALLS ||
        odd > USAGE_SHEET_CALLS * (uint64_t)USAGE_COUNTS || !ses__timestamp_holds(sums->first_us) ||
        !ses__timestamp_holds(sums->last_us) || sums->first_us > sums->last_us)
        return false;
    sums->calls = (int64_t)(calls / 2);
    sums->odd = (int64_t)odd;
    unpack_counts(sums->counts, (unsigned)flags, USAGE_SHEET_CALLS * MAX_USAGE_COUNT, 0, reader);
    return !reader->wrong;
}

static bool unpack_models(struct usage_sheet *sheet, struct sheet_reader *reader)
{
    const uint64_t count = unpack_number(reader);
    int64_t time_us = 0;

    if (count > USAGE_SHEET_CALLS)
        return false;
    for (sheet->model_count = 0; sheet->model_count < count; sheet->model_count++) {
        struct usage_sums *sums = &sheet->sums[sheet->model_count];
        const uint64_t len = unpack_number(reader);
        if (reader->wrong || len > SES_ID_MAX || len > (uint64_t)(reader->end - reader->at))
            return false;
        sheet->models[sheet->model_count] = (struct span){(const char *)reader->at, (size_t)len};
        reader->at += len;
        if (!unpack_sums(sums, time_us, reader))
            return false;
        time_us = sums->first_us;
    }
    return !reader->wrong;
}

/* The call after the one with that number and time. */
static ALWAYS_INLINE bool unpack_call(const struct usage_sheet *sheet, struct usage_call *call, int64_t seq,
                                      int64_t time_us, struct sheet_reader *reader)
{
    const uint64_t flags = unpack_number(reader);
    const uint64_t step = unpack_number(reader);
    const uint64_t model = unpack_number(reader);
    const uint64_t odd = model & 1 ? unpack_number(reader) : 0;

    call->time_us = (int64_t)((uint64_t)time_us + (uint64_t)unfolded(unpack_number(reader)));
    if (flags > ALL_FLAGS || step == 0 || step > (uint64_t)(sheet->last - seq) ||
        model / 2 >= sheet->model_count || odd > UINT32_MAX || !ses__timestamp_holds(call->time_us))
        return false;
    call->seq = seq + (int64_t)step;
    call->model = (uint32_t)(model / 2);
    call->odd = (uint32_t)odd;
    unpack_counts(call->counts, (unsigned)flags, MAX_USAGE_COUNT, -1, reader);
    return !reader->wrong;
}

static uint32_t stored_sum(const char *at)
{
    uint32_t sum = 0;

    for (int i = 0; i < SUM_BYTES; i++)
        sum |= (uint32_t)(unsigned char)at[i] << 8 * i;
    return sum;
}

bool ses__usage_sheet_read_sums(struct usage_sheet *sheet, const struct crc32_tables *sums, struct span bytes)
{
    if (!bytes.ptr || bytes.len < SUMS_AT || sheet->last < sheet->first)
        return false;
    const unsigned char *const end = (const unsigned char *)bytes.ptr + bytes.len;
    struct sheet_reader reader = {(const unsigned char *)bytes.ptr + SUMS_AT, end, false};
    if (!unpack_models(sheet, &reader))
        return false;
    const char *const calls = (const char *)reader.at;
    const struct span head = {bytes.ptr + HEAD_AT, (size_t)(calls - bytes.ptr - HEAD_AT)};
    sheet->count = 0;
    sheet->packed = (struct span){calls, (size_t)(end - reader.at)};
    sheet->packed_sum = stored_sum(head.ptr);
    return stored_sum(bytes.ptr) == sheet_sum(sheet, sums, head);
}

bool ses__usage_sheet_read_calls(struct usage_sheet *sheet, const struct crc32_tables *sums)
{
    const struct span packed = sheet->packed;
    int64_t seq = sheet->first - 1;
    int64_t time_us = sheet->model_count > 0 ? sheet->sums[0].first_us : 0;
    struct sheet_reader reader = {(const unsigned char *)packed.ptr,
                                  (const unsigned char *)packed.ptr + packed.len, false};

    if (sheet->packed_sum != ses__crc32(sums, 0, packed.ptr, packed.len))
        return false;
    for (sheet->count = 0; reader.at < reader.end; sheet->count++) {
        struct usage_call *call = &sheet->calls[sheet->count];
        if (ses__usage_sheet_is_full(sheet) || !unpack_call(sheet, call, seq, time_us, &reader))
            return false;
        seq = call->seq;
        time_us = call->time_us;
    }
    sheet->packed = (struct span){NULL, 0};
    return true;
}

bool ses__usage_sheet_agrees(const struct usage_sheet *sheet)
{
    struct usage_sums sums[USAGE_SHEET_CALLS];

    sum_up(sheet, sums);
    return memcmp(sums, sheet->sums, sheet->model_count * sizeof *sums) == 0;
}
