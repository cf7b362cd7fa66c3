#include "CExiv2.h"
#include "quiet.h"
#include <exiv2/xmp_exiv2.hpp>
#include <map>
#include <string>

struct cexiv2_xmp {
    Exiv2::XmpData data;
    std::map<std::string, const Exiv2::Value *> properties;
    std::string text;
};

bool cexiv2_prepare(void) {
    try {
        cexiv2_be_quiet();
        return Exiv2::XmpParser::initialize();
    } catch (...) {
        return false;
    }
}

cexiv2_xmp *cexiv2_read_xmp(const uint8_t *packet, size_t count) {
    cexiv2_xmp *xmp = nullptr;
    try {
        cexiv2_be_quiet();
        xmp = new cexiv2_xmp();
        const std::string text(reinterpret_cast<const char *>(packet), count);
        if (Exiv2::XmpParser::decode(xmp->data, text) != 0) {
            delete xmp;
            return nullptr;
        }
        for (const auto &datum : xmp->data) xmp->properties.emplace(datum.key(), &datum.value());
        return xmp;
    } catch (...) {
        delete xmp;
        return nullptr;
    }
}

void cexiv2_free_xmp(cexiv2_xmp *xmp) { delete xmp; }

/// The text of a value, empty where it has parts.
static std::string text(const Exiv2::Value &value) {
    if (const auto *alternatives = dynamic_cast<const Exiv2::LangAltValue *>(&value)) {
        const auto any = alternatives->value_.find("x-default");
        if (any != alternatives->value_.end()) return any->second;
        return alternatives->value_.empty() ? std::string() : alternatives->value_.begin()->second;
    }
    if (const auto *list = dynamic_cast<const Exiv2::XmpArrayValue *>(&value)) {
        return list->count() > 0 ? list->toString(0) : std::string();
    }
    const auto *simple = dynamic_cast<const Exiv2::XmpTextValue *>(&value);
    return simple ? simple->value_ : std::string();
}

bool cexiv2_find_property(cexiv2_xmp *xmp, const char *name, const uint8_t **bytes, size_t *length) {
    try {
        const std::string key(name);
        // The items of a list that has more than texts are values of their own.
        for (const std::string &part : {key, key + "[1]"}) {
            const auto found = xmp->properties.find(part);
            if (found == xmp->properties.end()) continue;
            xmp->text = text(*found->second);
            if (xmp->text.empty()) continue;
            *bytes = reinterpret_cast<const uint8_t *>(xmp->text.data());
            *length = xmp->text.size();
            return true;
        }
        return false;
    } catch (...) {
        return false;
    }
}
