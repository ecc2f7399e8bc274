// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
import NFCSessions
import TagLink

/// A reader session that asks phones for passes with Apple's value added service (VAS) protocol.
///
/// The protocol needs keys that Apple gives only to terminal vendors. So the session checks its configurations, waits
/// for its turn, shows the sheet and becomes active, but then ends with `readerErrorUnsupportedFeature`.
open class NFCVASReaderSession: NFCReaderSession {
    private let configurations: [NFCVASCommandConfiguration]

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - commandConfigurations: the passes to ask for, at least one.
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: the queue for the delegate; nil for a serial queue that the session creates.
    public init(
        vasCommandConfigurations commandConfigurations: [NFCVASCommandConfiguration],
        delegate: any NFCVASReaderSessionDelegate,
        queue: DispatchQueue?
    ) {
        configurations = commandConfigurations.compactMap { $0.copy() as? NFCVASCommandConfiguration }
        // The session would ask phones, so it looks for no tags.
        super.init(delegate: delegate, queue: queue, plan: PollingPlan(technologies: []))
    }

    /// Creates a session.
    @available(*, deprecated, renamed: "init(vasCommandConfigurations:delegate:queue:)")
    public convenience init(
        VASCommandConfigurations commandConfigurations: [NFCVASCommandConfiguration],
        delegate: any NFCVASReaderSessionDelegate,
        queue: DispatchQueue?
    ) {
        self.init(vasCommandConfigurations: commandConfigurations, delegate: delegate, queue: queue)
    }

    override var request: AppConfiguration.Request? { .vas }

    override var refusal: NFCReaderError? { Self.error(in: configurations) }

    /// Returns the error for invalid configurations; nil when all are valid.
    static func error(in configurations: [NFCVASCommandConfiguration]) -> NFCReaderError? {
        if configurations.isEmpty {
            return NFCReaderError(.readerErrorInvalidParameter, reason: "The configuration is missing.")
        }
        if configurations.contains(where: { !$0.passTypeIdentifier.hasPrefix("pass.") }) {
            return NFCReaderError(.readerErrorInvalidParameter, reason: "A pass type identifier begins with `pass.`.")
        }
        if configurations.contains(where: { $0.mode == .urlOnly && $0.url == nil }) {
            return NFCReaderError(.readerErrorInvalidParameter, reason: "The mode urlOnly needs a URL.")
        }
        return nil
    }

    // MARK: Events

    private var vasDelegate: (any NFCVASReaderSessionDelegate)? {
        delegate as? any NFCVASReaderSessionDelegate
    }

    override var delegateConformsHere: Bool { delegate.conforms(to: (any NFCVASReaderSessionDelegate).self) }

    override func didBecomeActive() {
        vasDelegate?.readerSessionDidBecomeActive(self)
        runtime?.fail(.unsupported(reason: "VAS needs Apple's keys for terminals, which do not exist on Linux."))
    }

    override func didEnd(_ error: NFCReaderError) {
        vasDelegate?.readerSession(self, didInvalidateWithError: error)
    }
}

/// Receives the events of a value added service (VAS) session. All methods are called on the session's queue.
public protocol NFCVASReaderSessionDelegate: NSObjectProtocol {
    /// The session is active. Optional to implement.
    func readerSessionDidBecomeActive(_ session: NFCVASReaderSession)

    /// The session has ended. Called once, after all other methods.
    ///
    /// - Parameters:
    ///   - session: the session. It can't begin again.
    ///   - error: the reason, an ``NFCReaderError``.
    func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error)

    /// A phone has answered.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - responses: one answer for each configuration, in the order of the configurations.
    func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse])
}

extension NFCVASReaderSessionDelegate {
    /// Does nothing.
    public func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) {}
}

/// The pass that a value added service (VAS) session requests from a phone.
public class NFCVASCommandConfiguration: NSObject, NSCopying {
    /// The kind of request to the phone.
    public enum Mode: Int, Sendable {
        /// Requests only that the phone opens the URL.
        case urlOnly = 0
        /// Requests the pass, or that the phone opens the URL if it does not have the pass.
        case normal = 1

        /// Requests only that the phone opens the URL.
        @available(*, deprecated, renamed: "urlOnly")
        public static var VASModeURLOnly: Mode { .urlOnly }
        /// Requests the pass, or that the phone opens the URL if it does not have the pass.
        @available(*, deprecated, renamed: "normal")
        public static var VASModeNormal: Mode { .normal }
    }

    private struct Fields {
        var mode: Mode
        var passTypeIdentifier: String
        var url: URL?
    }

    private let storage: Locked<Fields>

    /// Creates a configuration. Each argument sets the property of the same name.
    public init(vasMode mode: Mode, passTypeIdentifier: String, url: URL?) {
        storage = Locked(Fields(mode: mode, passTypeIdentifier: passTypeIdentifier, url: url))
    }

    /// Creates a configuration.
    @available(*, deprecated, renamed: "init(vasMode:passTypeIdentifier:url:)")
    public convenience init(VASMode mode: Mode, passTypeIdentifier: String, url: URL?) {
        self.init(vasMode: mode, passTypeIdentifier: passTypeIdentifier, url: url)
    }

    /// The kind of request to the phone.
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

/// The kind of request to the phone.
@available(*, deprecated, renamed: "NFCVASCommandConfiguration.Mode")
public typealias VASMode = NFCVASCommandConfiguration.Mode

/// A phone's answer to one configuration of a value added service (VAS) session.
public class NFCVASResponse: NSObject, NSCopying {
    /// The status word of the answer.
    public enum ErrorCode: Int, Sendable {
        /// The phone has the pass, or took the URL.
        case success = 0x9000
        /// The phone does not have the pass.
        case dataNotFound = 0x6A83
        /// The phone has the pass, but the pass is not active.
        case dataNotActivated = 0x6287
        /// The parameters of the command are wrong.
        case wrongParameters = 0x6B00
        /// The length of the command is wrong.
        case wrongLCField = 0x6700
        /// The user has to do something first.
        case userIntervention = 0x6984
        /// The data of the command are wrong.
        case incorrectData = 0x6A80
        /// The phone does not support this version of VAS.
        case unsupportedApplicationVersion = 0x6340

        /// The phone has the pass, or took the URL.
        @available(*, deprecated, renamed: "success")
        public static var VASErrorCodeSuccess: ErrorCode { .success }
        /// The phone does not have the pass.
        @available(*, deprecated, renamed: "dataNotFound")
        public static var VASErrorCodeDataNotFound: ErrorCode { .dataNotFound }
        /// The phone has the pass, but the pass is not active.
        @available(*, deprecated, renamed: "dataNotActivated")
        public static var VASErrorCodeDataNotActivated: ErrorCode { .dataNotActivated }
        /// The parameters of the command are wrong.
        @available(*, deprecated, renamed: "wrongParameters")
        public static var VASErrorCodeWrongParameters: ErrorCode { .wrongParameters }
        /// The length of the command is wrong.
        @available(*, deprecated, renamed: "wrongLCField")
        public static var VASErrorCodeWrongLCField: ErrorCode { .wrongLCField }
        /// The user has to do something first.
        @available(*, deprecated, renamed: "userIntervention")
        public static var VASErrorCodeUserIntervention: ErrorCode { .userIntervention }
        /// The data of the command are wrong.
        @available(*, deprecated, renamed: "incorrectData")
        public static var VASErrorCodeIncorrectData: ErrorCode { .incorrectData }
        /// The phone does not support this version of VAS.
        @available(*, deprecated, renamed: "unsupportedApplicationVersion")
        public static var VASErrorCodeUnsupportedApplicationVersion: ErrorCode { .unsupportedApplicationVersion }
    }

    /// The status word of the answer.
    public let status: ErrorCode

    /// The encrypted data of the pass; empty for none.
    public let vasData: Data

    /// The token that identifies the phone; empty for none.
    public let mobileToken: Data

    package init(status: ErrorCode, vasData: Data, mobileToken: Data) {
        self.status = status
        self.vasData = vasData
        self.mobileToken = mobileToken
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The status word of an answer.
@available(*, deprecated, renamed: "NFCVASResponse.ErrorCode")
public typealias VASErrorCode = NFCVASResponse.ErrorCode
