// Its checks of types are macros around functions that Swift does not import anyway.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
