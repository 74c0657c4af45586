@_exported import AVFAudio
@_exported import Foundation
@_exported import WakeFoundation
