import Foundation

/// The page that this app shares with the benchmark: when it came where, in nanoseconds of CLOCK_MONOTONIC.
@safe struct Stamps: @unchecked Sendable {
    enum Place: Int {
        case didUpdateValue
        case didFinishLaunching
        case main
    }

    private typealias Clock = @convention(c) (clockid_t, UnsafeMutablePointer<timespec>) -> Int32

    private let page: UnsafeMutablePointer<Int64>?
    /// The C library's own clock, behind the one that virtual time puts before it: an app with its library is measured as one
    /// without.
    private let clock: Clock?

    /// The file that STAMPS names.
    init() {
        let library = unsafe dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD)
        let function = unsafe dlsym(library, "clock_gettime")
        unsafe clock = function.map { unsafe unsafeBitCast($0, to: Clock.self) }
        guard let path = unsafe getenv("STAMPS") else {
            unsafe page = nil
            return
        }
        let file = unsafe open(path, O_RDWR | O_CLOEXEC)
        let address = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        close(file)
        unsafe page = address == MAP_FAILED ? nil : address?.assumingMemoryBound(to: Int64.self)
    }

    func write(_ place: Place) {
        var time = timespec()
        _ = unsafe clock?(CLOCK_MONOTONIC, &time)
        unsafe page?[place.rawValue] = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// Whether this process is only started to see how long it takes to the first line of main.
var isMeasuringSpawn: Bool { unsafe getenv("MAIN_ONLY") != nil }
