// toml++ behind C: a small TOML document as a list of its values, each with its place in the text. Every exception ends here,
// among them those that say that memory was refused.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ctoml_kind {
    ctoml_text,
    ctoml_number,
    /// `number` is 0 or 1.
    ctoml_flag,
    /// An array of texts, which may be empty.
    ctoml_texts,
    /// A table without anything in it.
    ctoml_empty_table,
    /// Any other: `type` says which.
    ctoml_other
};

/// A place in the text: the first line is 1, and so is the first character of a line. Characters are Unicode scalars.
typedef struct ctoml_place {
    uint32_t line;
    uint32_t column;
} ctoml_place;

/// A value. Its strings are the document's.
typedef struct ctoml_entry {
    /// The names of the tables that it is in, and its own, with full stops between them. A name in which there is more than letters,
    /// digits, `_` and `-` stands in quotation marks.
    const char *key;
    enum ctoml_kind kind;
    int64_t number;
    /// Texts that it has: 1 for ``ctoml_text``.
    size_t texts;
    /// TOML's name of what it is.
    const char *type;
    ctoml_place key_begin;
    /// Of the value; the end is behind its last character.
    ctoml_place begin;
    ctoml_place end;
} ctoml_entry;

typedef struct ctoml_failure {
    ctoml_place place;
    /// What the parser says; empty where memory was refused.
    char what[256];
} ctoml_failure;

typedef struct ctoml_document ctoml_document;

/// - Parameter bytes: UTF-8 of which the caller has bounded the length. Tables and arrays are nested 256 deep at most.
/// - Returns: NULL where it is no TOML 1.0, and then `failure` says why.
ctoml_document *ctoml_parse(const char *bytes, size_t count, ctoml_failure *failure);
void ctoml_free(ctoml_document *document);

size_t ctoml_count(const ctoml_document *document);
ctoml_entry ctoml_entry_at(const ctoml_document *document, size_t index);

/// A text of an entry, which may have NUL in it.
const char *ctoml_text_at(const ctoml_document *document, size_t index, size_t text, size_t *length);

#ifdef __cplusplus
}
#endif
