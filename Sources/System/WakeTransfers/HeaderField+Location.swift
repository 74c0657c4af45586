extension [HeaderField] {
    /// Where a response sends the client (RFC 9110 section 10.2.2), as it was written; nil where it sends it nowhere.
    var redirectTarget: String? { value(of: "location") }
}
