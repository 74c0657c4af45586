// Virtual time inside an app's process. Nothing here is called by name: the library is preloaded (LD_PRELOAD), finds the
// bench's page by the variable WAKEBENCH_TIME_PAGE, and takes the place of the C library's clocks. CVirtualTime.h
// describes the page, which is all that it shares with the bench.
#pragma once
