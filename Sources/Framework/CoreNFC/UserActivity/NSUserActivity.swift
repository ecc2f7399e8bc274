// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// The reason why an app is opened: for example, the link of a tag that was read in the background.
///
/// Foundation lacks this class on Linux. This version has the parts that apps use with Core NFC, and may be used from
/// any thread.
open class NSUserActivity: NSObject {
    private struct Fields {
        var title: String?
        var webpageURL: URL?
    }

    private let storage: Locked<Fields>
    private let message: NFCNDEFMessage

    /// The type: ``NSUserActivityTypeBrowsingWeb`` for a link.
    public let activityType: String

    /// Creates an activity without an NDEF message.
    public init(activityType: String) {
        self.activityType = activityType
        storage = Locked(Fields())
        message = NFCNDEFMessage(records: [
            NFCNDEFPayload(format: .empty, type: Data(), identifier: Data(), payload: Data())
        ])
    }

    package init(webpageURL: URL, ndefMessagePayload: NFCNDEFMessage) {
        activityType = NSUserActivityTypeBrowsingWeb
        storage = Locked(Fields(webpageURL: webpageURL))
        message = ndefMessagePayload
    }

    /// A title for users.
    open var title: String? {
        get { storage.withLock { $0.title } }
        set { storage.withLock { $0.title = newValue } }
    }

    /// The link.
    open var webpageURL: URL? {
        get { storage.withLock { $0.webpageURL } }
        set { storage.withLock { $0.webpageURL = newValue } }
    }

    /// The tag's message. For any other activity, this is a message with one empty record.
    open var ndefMessagePayload: NFCNDEFMessage { message }
}

/// The type of an activity that opens a link.
public let NSUserActivityTypeBrowsingWeb: String = "NSUserActivityTypeBrowsingWeb"

/// Why the system opens a scene of an app for NFC.
///
/// Scenes need UIKit, so the framework never creates such an event. The type exists only so that code that handles the
/// event compiles. The scene delegate, which uses `UIWindowScene`, is not available.
public enum NFCWindowSceneEvent: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The user pressed the side button twice.
    case presentation
    /// The device is near a reader.
    case readerDetected

    public var description: String {
        switch self {
        case .presentation: "presentation"
        case .readerDetected: "readerDetected"
        }
    }
}
