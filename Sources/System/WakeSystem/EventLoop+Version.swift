extension EventLoop {
    /// The file of the libsystemd in use, such as `libsystemd.so.0.35.0`: the library itself tells no version.
    ///
    /// Nil when the list of this process's mappings cannot be read.
    package static var libraryFile: String? {
        guard let maps = try? readSmallFile("/proc/self/maps", limit: 1 << 20) else { return nil }
        for line in maps.split(separator: "\n") {
            let name = line.split(separator: "/").last ?? ""
            if name.hasPrefix("libsystemd.so") { return String(name) }
        }
        return nil
    }
}
