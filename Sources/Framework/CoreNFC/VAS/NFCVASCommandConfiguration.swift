// SPDX-License-Identifier: Apache-2.0
public import Foundation
import TagLink

/// Which pass a value added service (VAS) session asks a phone for.
public class NFCVASCommandConfiguration: NSObject, NSCopying {
    /// What to request from the phone.
    public enum Mode: Int, Sendable {
        /// Only to open the URL.
        case urlOnly = 0
        /// The pass; or the URL if the phone has no pass.
        case normal = 1

        /// Only to open the URL.
        @available(*, deprecated, renamed: "urlOnly")
        public static var VASModeURLOnly: Mode { .urlOnly }
        /// The pass; or the URL if the phone has no pass.
        @available(*, deprecated, renamed: "normal")
        public static var VASModeNormal: Mode { .normal }
    }

    private struct Fields {
        var mode: Mode
        var passTypeIdentifier: String
        var url: URL?
    }

    private let storage: Locked<Fields>

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - mode: what to request from the phone.
    ///   - passTypeIdentifier: the identifier of the pass, such as `pass.com.example.loyalty`.
    ///   - url: the URL that the phone may open; nil for none.
    public init(vasMode mode: Mode, passTypeIdentifier: String, url: URL?) {
        storage = Locked(Fields(mode: mode, passTypeIdentifier: passTypeIdentifier, url: url))
    }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - mode: what to request from the phone.
    ///   - passTypeIdentifier: the identifier of the pass.
    ///   - url: the URL that the phone may open; nil for none.
    @available(*, deprecated, renamed: "init(vasMode:passTypeIdentifier:url:)")
    public convenience init(VASMode mode: Mode, passTypeIdentifier: String, url: URL?) {
        self.init(vasMode: mode, passTypeIdentifier: passTypeIdentifier, url: url)
    }

    /// What to request from the phone.
    public var mode: Mode {
        get { storage.withLock { $0.mode } }
        set { storage.withLock { $0.mode = newValue } }
    }

    /// The identifier of the pass.
    public var passTypeIdentifier: String {
        get { storage.withLock { $0.passTypeIdentifier } }
        set { storage.withLock { $0.passTypeIdentifier = newValue } }
    }

    /// The URL that the phone may open; nil for none.
    public var url: URL? {
        get { storage.withLock { $0.url } }
        set { storage.withLock { $0.url = newValue } }
    }

    public func copy(with zone: NSZone? = nil) -> Any {
        NFCVASCommandConfiguration(vasMode: mode, passTypeIdentifier: passTypeIdentifier, url: url)
    }
}

/// What to request from the phone.
@available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode")
public typealias VASMode = NFCVASCommandConfiguration.Mode
