#pragma once
#include <exiv2/error.hpp>

/// libexiv2 prints to standard error what hostile files tell it.
inline void cexiv2_be_quiet() { Exiv2::LogMsg::setLevel(Exiv2::LogMsg::mute); }
