// The tables and the parts of pages that lie in WakeReports. As literals of Swift, an array with an element a byte, they cost half a
// minute of each optimized build.
#pragma once

#include <stddef.h>

// The bytes of a file, for as long as the program runs.
struct wake_file {
    const unsigned char *start;
    size_t count;
};

struct wake_file wake_acts_tsv(void);
struct wake_file wake_devices_tsv(void);
struct wake_file wake_energy_tsv(void);
struct wake_file wake_losses_tsv(void);
struct wake_file wake_modes_tsv(void);
struct wake_file wake_phone_tsv(void);
struct wake_file wake_remedies_tsv(void);
struct wake_file wake_rules_tsv(void);
struct wake_file wake_sources_tsv(void);
struct wake_file wake_waits_tsv(void);
struct wake_file wake_page_html(void);
struct wake_file wake_page_css(void);
struct wake_file wake_page_data_js(void);
struct wake_file wake_page_why_js(void);
struct wake_file wake_page_rows_js(void);
struct wake_file wake_page_draw_js(void);
struct wake_file wake_page_list_js(void);
struct wake_file wake_page_js(void);
struct wake_file wake_live_html(void);
struct wake_file wake_live_css(void);
struct wake_file wake_live_run_js(void);
struct wake_file wake_live_js(void);
