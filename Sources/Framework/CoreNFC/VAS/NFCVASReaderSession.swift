// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Foundation
import NFCSessions

/// A reader session that asks phones for passes with Apple's value added service (VAS) protocol.
///
/// The protocol needs keys that Apple gives to terminal vendors, and this framework does not have them. In all other
/// ways the session is real: it checks its configurations, waits for its turn, shows the sheet and becomes active. Then
/// it ends with `readerErrorUnsupportedFeature`.
open class NFCVASReaderSession: NFCReaderSession {
    private let configurations: [NFCVASCommandConfiguration]

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - commandConfigurations: the passes to ask for, at least one.
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: where the delegate is called; nil for a serial queue that the session creates.
    public init(
        vasCommandConfigurations commandConfigurations: [NFCVASCommandConfiguration],
        delegate: any NFCVASReaderSessionDelegate,
        queue: DispatchQueue?
    ) {
        configurations = commandConfigurations.compactMap { $0.copy() as? NFCVASCommandConfiguration }
        // The session would ask phones, so there are no tags to look for.
        super.init(delegate: delegate, queue: queue) { _ in PollingPlan(technologies: []) }
    }

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - commandConfigurations: the passes to ask for, at least one.
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: where the delegate is called; nil for a serial queue that the session creates.
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

    /// The error of invalid configurations; nil when they are valid.
    static func error(in configurations: [NFCVASCommandConfiguration]) -> NFCReaderError? {
        if configurations.isEmpty {
            return NFCReaderError(.readerErrorInvalidParameter, reason: "There is no configuration.")
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
