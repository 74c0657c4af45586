import Foundation
import WakeClient

/// A picture: the bytes of its file, for what is noted of it. Nothing is drawn here.
open class UIImage: NSObject, @unchecked Sendable {
    private static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    private static let jpeg: [UInt8] = [0xff, 0xd8, 0xff]

    private let bytes: Data

    /// The picture that a PNG or JPEG file's bytes are; nil for other bytes.
    public init?(data: Data) {
        guard data.starts(with: Self.png) || data.starts(with: Self.jpeg) else { return nil }
        bytes = data
        super.init()
    }

    /// The picture in a PNG or JPEG file; nil where there is none.
    public convenience init?(contentsOfFile path: String) {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        self.init(data: data)
    }

    /// The picture in a file of the app's bundle, by its whole name or without `.png`, `@2x.png` or `@3x.png`; nil where there is
    /// none. Asset catalogues are not read.
    public convenience init?(named name: String) {
        let folder = AppList.executable?.deletingLastPathComponent()
        let files = ["", ".png", "@2x.png", "@3x.png"].compactMap { folder?.appending(path: name + $0) }
        guard let data = files.lazy.compactMap({ try? Data(contentsOf: $0) }).first else { return nil }
        self.init(data: data)
    }

    /// The picture as the bytes of a PNG file; nil of a JPEG, which is said once on stderr.
    open func pngData() -> Data? {
        guard bytes.starts(with: Self.jpeg) else { return bytes }
        notDecided("UIImage.pngData: a JPEG is not turned into a PNG here")
        return nil
    }
}
