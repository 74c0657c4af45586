import CReportFiles

/// The files of this room's `Tables` and `Templates`, which the program carries in it.
enum EmbeddedFile {
    static let actsTSV = unsafe bytes(wake_acts_tsv())
    static let devicesTSV = unsafe bytes(wake_devices_tsv())
    static let energyTSV = unsafe bytes(wake_energy_tsv())
    static let lossesTSV = unsafe bytes(wake_losses_tsv())
    static let modesTSV = unsafe bytes(wake_modes_tsv())
    static let phoneTSV = unsafe bytes(wake_phone_tsv())
    static let remediesTSV = unsafe bytes(wake_remedies_tsv())
    static let rulesTSV = unsafe bytes(wake_rules_tsv())
    static let sourcesTSV = unsafe bytes(wake_sources_tsv())
    static let waitsTSV = unsafe bytes(wake_waits_tsv())
    static let pageHTML = unsafe bytes(wake_page_html())
    static let pageCSS = unsafe bytes(wake_page_css())
    static let pageDataJS = unsafe bytes(wake_page_data_js())
    static let pageWhyJS = unsafe bytes(wake_page_why_js())
    static let pageRowsJS = unsafe bytes(wake_page_rows_js())
    static let pageDrawJS = unsafe bytes(wake_page_draw_js())
    static let pageListJS = unsafe bytes(wake_page_list_js())
    static let pageJS = unsafe bytes(wake_page_js())
    static let liveHTML = unsafe bytes(wake_live_html())
    static let liveCSS = unsafe bytes(wake_live_css())
    static let liveRunJS = unsafe bytes(wake_live_run_js())
    static let liveJS = unsafe bytes(wake_live_js())

    private static func bytes(_ file: wake_file) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: file.start, count: file.count))
    }
}
