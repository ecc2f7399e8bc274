// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Foundation

/// A reader session for payment cards: it looks for ISO/IEC 14443 cards and reports them to an
/// ``NFCTagReaderSessionDelegate``.
///
/// On iOS, only eligible apps in some countries may use this session. Here every app with a reader may use it, so that
/// you can test the code around it.
open class NFCPaymentTagReaderSession: NFCTagReaderSession {
    /// Creates a session.
    ///
    /// - Parameters:
    ///   - delegate: receives the session's events; held weakly.
    ///   - queue: where the delegate and completion handlers are called; nil for a serial queue that the session
    ///     creates.
    public init(delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue? = nil) {
        super.init(configuration: Configuration(pollingOption: .iso14443), delegate: delegate, queue: queue)
    }

    override var acceptedOptions: PollingOption { .iso14443 }

    override func request(for search: TagSearch) -> AppConfiguration.Request { .payment }
}
