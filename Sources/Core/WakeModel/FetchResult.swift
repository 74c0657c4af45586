/// An app's word for what came of its fetch, of its own (FETCH-2) or for a push (PUSH-1).
package enum FetchResult: UInt8, Worded, Codable, Sendable {
    case newData
    case noData
    case failed

    /// As UIBackgroundFetchResult has it.
    package var word: String { "\(self)" }
}
