import Glibc

// What libFuzzer calls. Scripts/fuzz links it with the fuzzer's runtime; nothing else does.

/// The target that WAKEBENCH_FUZZ names.
private let chosen: FuzzTarget = {
    let name = unsafe getenv("WAKEBENCH_FUZZ").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget.named(name) else { preconditionFailure("WAKEBENCH_FUZZ names no target: '\(name)'") }
    return target
}()

/// One input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
