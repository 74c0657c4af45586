@_exported import AVFAudio
@_exported import AVFoundation
@_exported import Foundation
