/*
 * The rules by which an event has words in an index are frozen under the number in the name of the feature:
 * an index that was made by other rules would keep words of deleted events, and not find others. A change of
 * the rules takes the next number.
 */
#include "model/words/words.h"
#include "model/words/event_words.h"
#include "model/words/index_text.h"
#include "storage/sql/rows/words.h"

#include "random.h"

/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), to which only additions are made. */
static void hash_bytes(uint64_t *hash, const void *bytes, size_t len)
{
    const unsigned char *const at = bytes;

    for (size_t i = 0; i < len; i++)
        *hash = (*hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static void hash_number(uint64_t *hash, uint32_t number)
{
    for (int shift = 0; shift < 32; shift += 8) {
        const unsigned char byte = (unsigned char)(number >> shift & 0xFF);
        hash_bytes(hash, &byte, 1);
    }
}

static void hash_characters(uint64_t *hash)
{
    for (uint32_t character = 0; character < 0x110000; character++) {
        hash_number(hash, (uint32_t)ses__character_kind(character));
        hash_number(hash, ses__character_folded(character));
    }
}

/* The results of Hangul letters, syllables and kana with those that may follow. */
static void hash_compositions(uint64_t *hash)
{
    static const uint32_t ranges[][2] = {{0x10FF, 0x1114}, {0x3040, 0x3100}, {0xABFF, 0xD7A5}};

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        for (uint32_t first = ranges[i][0]; first < ranges[i][1]; first++) {
            for (uint32_t second = 0x1160; second < 0x11C4; second++)
                hash_number(hash, ses__character_composed(first, second));
            for (uint32_t mark = 0x3098; mark < 0x309C; mark++)
                hash_number(hash, ses__character_composed(first, mark));
        }
    }
}

static void add_random(uint64_t *seed, FILE *out)
{
    static const char *const words[] = {"Word",
                                        "caf\u00e9",
                                        " ",
                                        "\u6211\u5199",
                                        "\u30c7\u30fc\u30bf",
                                        "\\u0e44",
                                        "don't",
                                        "\\n",
                                        "\\ud83d\\ude00",
                                        "\u0e44\u0e17\u0e22",
                                        "\\ud800",
                                        "\\u00c5ngs",
                                        "\u1112\u1161",
                                        "\u304b\u3099\u304d",
                                        "x_1"};

    for (size_t count = random_below(seed, 12); count > 0; count--)
        fputs(words[random_below(seed, sizeof words / sizeof words[0])], out);
    if (random_below(seed, 20) == 0)
        for (size_t count = 200 + random_below(seed, 200); count > 0; count--)
            fputs(random_below(seed, 2) ? "\u00e9" : "y", out);
}

/* $ stands for a random text. */
static void add_body(uint64_t *seed, const char *shape, FILE *out)
{
    for (const char *at = shape; *at; at++) {
        if (*at == '$')
            add_random(seed, out);
        else
            fputc(*at == '\'' ? '"' : *at, out);
    }
}

static void hash_event(uint64_t *hash, struct span body, struct buffer *words, struct buffer *text)
{
    ses__event_words(body, words);
    ses__index_text(words, text);
    assert_false(words->failed || text->failed);
    hash_number(hash, (uint32_t)words->len);
    hash_bytes(hash, words->data, words->len);
    hash_bytes(hash, text->data, text->len);
}

static void hash_events(uint64_t *hash)
{
    static const char *const shapes[] = {
        "{'id':'$','author':'$','content':{'role':'$','parts':[{'text':'$'},{'text':'$','thought':true}]}}",
        "{'content':{'parts':[{'inlineData':{'mimeType':'$','data':'$','displayName':'$'}}]},'other':'$'}",
        "{'content':{'parts':[{'inline_data':{'mime_type':'$','data':'$'},'thoughtSignature':'$'}]}}",
        "{'content':{'parts':[{'functionCall':{'id':'$','name':'$','args':{'id':'$','role':'$','$':['$',1]}}}]}}",
        "{'content':{'parts':[{'function_response':{'id':'$','name':'$','response':{'data':'$','x':{'id':'$'}}}}]}}",
        "{'errorMessage':'$','error_message':'$','errorCode':'$','message':'$'}",
        "{'content':'$','actions':{'stateDelta':{'a':'$'}},'customMetadata':{'content':'$'}}",
        "{'content':{'parts':[{'thought_signature':'$','executableCode':{'code':'$','language':'$'}},'$',null,7]}}",
        "['$']",
        "{'content':{'parts':[{'text':'$'}]",
    };
    struct buffer words;
    struct buffer text;
    ses_allocator allocator;
    uint64_t seed = 11;

    ses__memory_default(&allocator);
    ses__buffer_init(&words, &allocator);
    ses__buffer_init(&text, &allocator);
    for (size_t i = 0; i < 3000; i++) {
        char *body = NULL;
        size_t len = 0;
        FILE *out = open_memstream(&body, &len);
        assert_non_null(out);
        add_body(&seed, shapes[i % (sizeof shapes / sizeof shapes[0])], out);
        assert_int_equal(fclose(out), 0);
        hash_event(hash, (struct span){body, len}, &words, &text);
        free(body);
    }
    ses__buffer_free(&text);
    ses__buffer_free(&words);
}

PLAIN_TEST(the_rules_are_those_of_the_number)
{
    /* When the rules change: the next number, and the hash of the new ones. */
    static const char name[] = "search";
    const uint64_t expected = UINT64_C(0x62f4492a4ed81742);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    hash_characters(&hash);
    hash_compositions(&hash);
    hash_events(&hash);
    if (hash != expected || strcmp(WORDS_FEATURE, name) != 0)
        fail_msg(
            "the rules of the index of words are others (0x%016llx): a new number is needed in WORDS_FEATURE, "
            "which is %s (storage/sql/rows/words.h)",
            (unsigned long long)hash, WORDS_FEATURE);
}
