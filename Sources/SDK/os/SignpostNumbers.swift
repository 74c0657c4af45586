import Synchronization

/// Numbers for spans, each once in a process.
enum SignpostNumbers {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
