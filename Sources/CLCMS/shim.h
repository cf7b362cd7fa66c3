#pragma once
#include <lcms2.h>

// The TYPE_ macros are too much for Swift's importer.
static const cmsUInt32Number clcms_rgb8 = TYPE_RGB_8;
static const cmsUInt32Number clcms_lab16 = TYPE_Lab_16;
static const cmsUInt32Number clcms_grey8 = TYPE_GRAY_8;
static const cmsUInt32Number clcms_cmyk8 = TYPE_CMYK_8;
static const cmsUInt32Number clcms_cmyk8_inverted = TYPE_CMYK_8_REV;
