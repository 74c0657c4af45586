import Foundation

/// Any object may stand for `%@` in a format, as with Apple's Foundation: it is written by its description.
extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
    /// The text that a format gets in the object's place.
    public var _cVarArgObject: any CVarArg { NSString(string: description) }

    /// The address of the object, one word.
    public var _cVarArgEncoding: [Int] { unsafe [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}
