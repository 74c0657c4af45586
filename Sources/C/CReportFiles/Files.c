#include "CReportFiles.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

#define FILE_OF(name) \
    struct wake_file wake_##name(void) { return (struct wake_file){name, sizeof name}; }

static const unsigned char acts_tsv[] = {
#embed "../../Bench/WakeReports/Tables/acts.tsv"
};
FILE_OF(acts_tsv)

static const unsigned char devices_tsv[] = {
#embed "../../Bench/WakeReports/Tables/devices.tsv"
};
FILE_OF(devices_tsv)

static const unsigned char energy_tsv[] = {
#embed "../../Bench/WakeReports/Tables/energy.tsv"
};
FILE_OF(energy_tsv)

static const unsigned char losses_tsv[] = {
#embed "../../Bench/WakeReports/Tables/losses.tsv"
};
FILE_OF(losses_tsv)

static const unsigned char modes_tsv[] = {
#embed "../../Bench/WakeReports/Tables/modes.tsv"
};
FILE_OF(modes_tsv)

static const unsigned char phone_tsv[] = {
#embed "../../Bench/WakeReports/Tables/phone.tsv"
};
FILE_OF(phone_tsv)

static const unsigned char remedies_tsv[] = {
#embed "../../Bench/WakeReports/Tables/remedies.tsv"
};
FILE_OF(remedies_tsv)

static const unsigned char rules_tsv[] = {
#embed "../../Bench/WakeReports/Tables/rules.tsv"
};
FILE_OF(rules_tsv)

static const unsigned char sources_tsv[] = {
#embed "../../Bench/WakeReports/Tables/sources.tsv"
};
FILE_OF(sources_tsv)

static const unsigned char waits_tsv[] = {
#embed "../../Bench/WakeReports/Tables/waits.tsv"
};
FILE_OF(waits_tsv)

static const unsigned char page_html[] = {
#embed "../../Bench/WakeReports/Templates/page.html"
};
FILE_OF(page_html)

static const unsigned char page_css[] = {
#embed "../../Bench/WakeReports/Templates/page.css"
};
FILE_OF(page_css)

static const unsigned char page_data_js[] = {
#embed "../../Bench/WakeReports/Templates/page-data.js"
};
FILE_OF(page_data_js)

static const unsigned char page_why_js[] = {
#embed "../../Bench/WakeReports/Templates/page-why.js"
};
FILE_OF(page_why_js)

static const unsigned char page_rows_js[] = {
#embed "../../Bench/WakeReports/Templates/page-rows.js"
};
FILE_OF(page_rows_js)

static const unsigned char page_draw_js[] = {
#embed "../../Bench/WakeReports/Templates/page-draw.js"
};
FILE_OF(page_draw_js)

static const unsigned char page_list_js[] = {
#embed "../../Bench/WakeReports/Templates/page-list.js"
};
FILE_OF(page_list_js)

static const unsigned char page_js[] = {
#embed "../../Bench/WakeReports/Templates/page.js"
};
FILE_OF(page_js)

static const unsigned char live_html[] = {
#embed "../../Bench/WakeReports/Templates/live.html"
};
FILE_OF(live_html)

static const unsigned char live_css[] = {
#embed "../../Bench/WakeReports/Templates/live.css"
};
FILE_OF(live_css)

static const unsigned char live_run_js[] = {
#embed "../../Bench/WakeReports/Templates/live-run.js"
};
FILE_OF(live_run_js)

static const unsigned char live_js[] = {
#embed "../../Bench/WakeReports/Templates/live.js"
};
FILE_OF(live_js)
