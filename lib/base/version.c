#include "base/common.h"

#define VERSION_TEXT_OF(number) #number
#define VERSION_TEXT(number) VERSION_TEXT_OF(number)

const char *ses_version(void)
{
    return VERSION_TEXT(SES_VERSION_MAJOR) "." VERSION_TEXT(SES_VERSION_MINOR) "." VERSION_TEXT(
        SES_VERSION_PATCH);
}

int ses_version_number(void)
{
    return SES_VERSION_NUMBER;
}
