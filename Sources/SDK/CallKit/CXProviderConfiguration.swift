import Foundation

/// What calls of a provider are like: how many there may be, and what is noted, nothing else.
open class CXProviderConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// The name that the user would read; nil for the app's own.
    public let localizedName: String?
    /// The sound of a call that comes in, a file of the bundle.
    open var ringtoneSound: String?
    /// The picture on the button that leads into the app.
    open var iconTemplateImageData: Data?
    /// How many groups of calls there may be.
    open var maximumCallGroups = 2
    /// How many calls a group may have.
    open var maximumCallsPerCallGroup = 5
    /// Whether calls stand in the list of recent ones.
    open var includesCallsInRecents = true
    /// Whether calls may have pictures.
    open var supportsVideo = false
    /// Whether what is said in calls can be translated.
    open var supportsAudioTranslation = false
    /// What those whom calls are with may be called by.
    open var supportedHandleTypes: Set<CXHandle.HandleType> = []

    /// The usual configuration, under the app's own name.
    public override init() {
        localizedName = nil
        super.init()
    }

    /// The usual configuration, under another name.
    public init(localizedName: String) {
        self.localizedName = localizedName
        super.init()
    }

    /// The same again, to be changed by itself.
    public func copy(with zone: NSZone? = nil) -> Any {
        let copy = localizedName.map { CXProviderConfiguration(localizedName: $0) } ?? CXProviderConfiguration()
        copy.ringtoneSound = ringtoneSound
        copy.iconTemplateImageData = iconTemplateImageData
        copy.maximumCallGroups = maximumCallGroups
        copy.maximumCallsPerCallGroup = maximumCallsPerCallGroup
        copy.includesCallsInRecents = includesCallsInRecents
        copy.supportsVideo = supportsVideo
        copy.supportsAudioTranslation = supportsAudioTranslation
        copy.supportedHandleTypes = supportedHandleTypes
        return copy
    }

    open override func copy() -> Any { copy(with: nil) }
}
