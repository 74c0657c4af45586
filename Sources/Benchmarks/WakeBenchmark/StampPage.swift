import Glibc

/// A page in a file that an app writes its times to, in nanoseconds of CLOCK_MONOTONIC.
@safe final class StampPage {
    enum Place: Int {
        case didUpdateValue
        case didFinishLaunching
        case main
    }

    private let page: UnsafeMutablePointer<Int64>

    /// Maps the file, which is made when it is not there.
    init(_ path: String) throws {
        let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(call: path) }
        defer { close(file) }
        guard ftruncate(file, 4_096) == 0 else { throw Failure(call: "ftruncate") }
        let address = unsafe mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { throw Failure(call: "mmap") }
        unsafe page = address.assumingMemoryBound(to: Int64.self)
    }

    deinit {
        unsafe munmap(page, 4_096)
    }

    subscript(place: Place) -> Int64 {
        get { unsafe page[place.rawValue] }
        set { unsafe page[place.rawValue] = newValue }
    }
}
