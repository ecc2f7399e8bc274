// SPDX-License-Identifier: Apache-2.0
public import Dispatch
import Foundation

/// A reader session for payment cards: it looks for ISO/IEC 14443 cards and gives them to an
/// ``NFCTagReaderSessionDelegate``.
///
/// On iOS the session is for eligible apps in some countries. Here it is for every app with a reader, so that the code
/// around it can be tested.
open class NFCPaymentTagReaderSession: NFCTagReaderSession {
    /// Creates a session.
    ///
    /// - Parameters:
    ///   - delegate: hears of what is found; held weakly.
    ///   - queue: where the delegate and completion handlers are called; nil for a serial queue of the session's own.
    public init(delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue? = nil) {
        super.init(configuration: Configuration(pollingOption: .iso14443), delegate: delegate, queue: queue)
    }

    override var acceptedOptions: PollingOption { .iso14443 }

    override func request(for search: TagSearch) -> AppConfiguration.Request { .payment }
}
