/*
 * The stored form of a sheet: four bytes with a CRC-32 of the rest and of the numbers of its row, so that no row is taken
 * for another or read after it was damaged; the number of models, and each as its length and its text; and the calls.
 *
 * A call begins with a byte, which has a bit for each count that it has (1 << USAGE_...), and TOTAL_IS_SUM. Then come the
 * distance of its number from that of the call before, twice its model (and 1 if it has odd counts, whose number follows),
 * the distance in time, and the counts. All numbers have 7 bits a byte, the lowest first. Those that may be negative have
 * their sign in the lowest bit.
 */
#include "base/crc32.h"
#include "model/event/timestamp.h"
#include "model/usage/usage.h"

enum { SUM_BYTES = 4, TOTAL_IS_SUM = 1 << USAGE_COUNTS, ALL_FLAGS = 2 * TOTAL_IS_SUM - 1 };

void ses__usage_sheet_begin(struct usage_sheet *sheet, int64_t session_id, int64_t first)
{
    sheet->session_id = session_id;
    sheet->first = first;
    sheet->last = first - 1;
    sheet->model_count = 0;
    sheet->count = 0;
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

static void pack_call(struct buffer *bytes, const struct usage_call *call, int64_t seq, int64_t time_us)
{
    unsigned flags = 0;

    for (unsigned i = 0; i < USAGE_COUNTS; i++)
        flags |= call->counts[i] >= 0 ? 1U << i : 0;
    if (call->counts[USAGE_TOTAL] >= 0 && call->counts[USAGE_TOTAL] == sum_of_parts(call->counts))
        flags ^= TOTAL_IS_SUM | 1U << USAGE_TOTAL;
    pack_number(bytes, flags);
    pack_number(bytes, (uint64_t)(call->seq - seq));
    pack_number(bytes, 2 * (uint64_t)call->model + (call->odd > 0));
    if (call->odd > 0)
        pack_number(bytes, call->odd);
    pack_number(bytes, folded(call->time_us - time_us));
    for (unsigned i = 0; i < USAGE_COUNTS; i++)
        if (flags & 1U << i)
            pack_number(bytes, (uint64_t)call->counts[i]);
}

void ses__usage_sheet_write(const struct usage_sheet *sheet, const struct crc32_tables *sums,
                            struct buffer *bytes)
{
    const size_t start = bytes->len;
    int64_t seq = sheet->first - 1;
    int64_t time_us = 0;

    ses__buffer_add(bytes, "\0\0\0\0", SUM_BYTES);
    pack_number(bytes, sheet->model_count);
    for (size_t i = 0; i < sheet->model_count; i++) {
        pack_number(bytes, sheet->models[i].len);
        ses__buffer_add(bytes, sheet->models[i].ptr, sheet->models[i].len);
    }
    for (size_t i = 0; i < sheet->count; i++) {
        pack_call(bytes, &sheet->calls[i], seq, time_us);
        seq = sheet->calls[i].seq;
        time_us = sheet->calls[i].time_us;
    }
    if (bytes->failed)
        return;
    char *const sum = bytes->data + start;
    const uint32_t value =
        sheet_sum(sheet, sums, (struct span){sum + SUM_BYTES, bytes->len - start - SUM_BYTES});
    for (int i = 0; i < SUM_BYTES; i++)
        sum[i] = (char)(value >> 8 * i & 0xFF);
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

static bool unpack_models(struct usage_sheet *sheet, struct sheet_reader *reader)
{
    const uint64_t count = unpack_number(reader);

    if (count > USAGE_SHEET_CALLS)
        return false;
    for (sheet->model_count = 0; sheet->model_count < count; sheet->model_count++) {
        const uint64_t len = unpack_number(reader);
        if (reader->wrong || len > SES_ID_MAX || len > (uint64_t)(reader->end - reader->at))
            return false;
        sheet->models[sheet->model_count] = (struct span){(const char *)reader->at, (size_t)len};
        reader->at += len;
    }
    return !reader->wrong;
}

static ALWAYS_INLINE void unpack_counts(struct usage_call *call, unsigned flags, struct sheet_reader *reader)
{
    for (unsigned i = 0; i < USAGE_COUNTS; i++) {
        const uint64_t count = flags & 1U << i ? unpack_number(reader) : 0;
        reader->wrong = reader->wrong || count > MAX_USAGE_COUNT;
        call->counts[i] = flags & 1U << i ? (int64_t)count : -1;
    }
    if (flags & TOTAL_IS_SUM)
        call->counts[USAGE_TOTAL] = sum_of_parts(call->counts);
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
    unpack_counts(call, (unsigned)flags, reader);
    return !reader->wrong;
}

static uint32_t stored_sum(struct span bytes)
{
    uint32_t sum = 0;

    for (int i = 0; i < SUM_BYTES; i++)
        sum |= (uint32_t)(unsigned char)bytes.ptr[i] << 8 * i;
    return sum;
}

bool ses__usage_sheet_read(struct usage_sheet *sheet, const struct crc32_tables *sums, struct span bytes)
{
    int64_t seq = sheet->first - 1;
    int64_t time_us = 0;

    if (!bytes.ptr || bytes.len < SUM_BYTES || sheet->last < sheet->first)
        return false;
    const struct span rest = {bytes.ptr + SUM_BYTES, bytes.len - SUM_BYTES};
    struct sheet_reader reader = {(const unsigned char *)rest.ptr, (const unsigned char *)rest.ptr + rest.len,
                                  false};
    if (stored_sum(bytes) != sheet_sum(sheet, sums, rest) || !unpack_models(sheet, &reader))
        return false;
    for (sheet->count = 0; reader.at < reader.end; sheet->count++) {
        struct usage_call *call = &sheet->calls[sheet->count];
        if (ses__usage_sheet_is_full(sheet) || !unpack_call(sheet, call, seq, time_us, &reader))
            return false;
        seq = call->seq;
        time_us = call->time_us;
    }
    return true;
}
