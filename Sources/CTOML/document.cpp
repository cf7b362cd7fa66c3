// As Debian builds the library (tomlplusplus.pc).
#define TOML_HEADER_ONLY 0
#define TOML_SHARED_LIB 1
#include "ctoml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Entry {
    std::string key;
    std::vector<std::string> texts;
    ctoml_entry facts = {};
};

} // namespace

struct ctoml_document {
    std::vector<Entry> entries;
};

static ctoml_place place_of(const toml::source_position &position) { return {position.line, position.column}; }

static const char *name_of(toml::node_type type) {
    switch (type) {
    case toml::node_type::table: return "a table";
    case toml::node_type::array: return "an array";
    case toml::node_type::string: return "a text";
    case toml::node_type::integer: return "a whole number";
    case toml::node_type::floating_point: return "a number with a fraction";
    case toml::node_type::boolean: return "true or false";
    case toml::node_type::date: return "a date";
    case toml::node_type::time: return "a time";
    case toml::node_type::date_time: return "a date and time";
    default: return "something else";
    }
}

/// Of a key that need not be in quotation marks.
static bool is_bare(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '_' || letter == '-';
    });
}

static bool add_texts(Entry &entry, const toml::array &array) {
    for (const auto &element : array) {
        const auto *text = element.as_string();
        if (!text) return false;
        entry.texts.push_back(text->get());
    }
    return true;
}

static void add(ctoml_document &document, const toml::table &table, const std::string &prefix) {
    for (const auto &[key, node] : table) {
        const std::string_view name = key.str();
        const std::string path = prefix + (is_bare(name) ? std::string(name) : '"' + std::string(name) + '"');
        const auto *inner = node.as_table();
        if (inner && !inner->empty()) {
            add(document, *inner, path + '.');
            continue;
        }
        Entry entry;
        entry.key = path;
        auto &facts = entry.facts;
        facts.key_begin = place_of(key.source().begin);
        facts.begin = place_of(node.source().begin);
        facts.end = place_of(node.source().end);
        facts.type = name_of(node.type());
        facts.kind = ctoml_other;
        if (inner) {
            facts.kind = ctoml_empty_table;
        } else if (const auto *text = node.as_string()) {
            facts.kind = ctoml_text;
            entry.texts.push_back(text->get());
        } else if (const auto *number = node.as_integer()) {
            facts.kind = ctoml_number;
            facts.number = number->get();
        } else if (const auto *flag = node.as_boolean()) {
            facts.kind = ctoml_flag;
            facts.number = flag->get() ? 1 : 0;
        } else if (const auto *array = node.as_array()) {
            if (add_texts(entry, *array)) facts.kind = ctoml_texts;
        }
        document.entries.push_back(std::move(entry));
    }
}

ctoml_document *ctoml_parse(const char *bytes, size_t count, ctoml_failure *failure) {
    *failure = {};
    try {
        auto document = std::make_unique<ctoml_document>();
        const auto table = toml::parse(std::string_view(bytes, count));
        add(*document, table, "");
        // The library sorts them by their names.
        std::stable_sort(document->entries.begin(), document->entries.end(), [](const Entry &one, const Entry &other) {
            const auto first = one.facts.key_begin, second = other.facts.key_begin;
            return first.line != second.line ? first.line < second.line : first.column < second.column;
        });
        for (auto &entry : document->entries) {
            entry.facts.key = entry.key.c_str();
            entry.facts.texts = entry.texts.size();
        }
        return document.release();
    } catch (const toml::parse_error &error) {
        failure->place = place_of(error.source().begin);
        const auto what = error.description();
        const size_t length = std::min(what.size(), sizeof(failure->what) - 1);
        std::memcpy(failure->what, what.data(), length);
    } catch (...) {
    }
    return nullptr;
}

void ctoml_free(ctoml_document *document) { delete document; }

size_t ctoml_count(const ctoml_document *document) { return document->entries.size(); }

ctoml_entry ctoml_entry_at(const ctoml_document *document, size_t index) { return document->entries[index].facts; }

const char *ctoml_text_at(const ctoml_document *document, size_t index, size_t text, size_t *length) {
    const auto &found = document->entries[index].texts[text];
    *length = found.size();
    return found.data();
}
