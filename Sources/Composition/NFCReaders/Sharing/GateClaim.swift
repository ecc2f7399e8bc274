// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCRuntime

/// A connection to the service's gate, which keeps the reader.
final class GateClaim: ReaderClaim, @unchecked Sendable {
    // Sendable because what may change is touched only while the claim is made, by who makes it.
    var answer: (any DispatchSourceRead)?
    var limit: ScheduledEvent?
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reports tags that the app's session has found: the service does not offer those that stay when it has ended.
    func note(_ identifiers: [[UInt8]]) {
        for identifier in identifiers where identifier.count <= ReaderGate.maximumIdentifier {
            ReaderGate.send([ReaderGate.tagMark, UInt8(identifier.count)] + identifier, to: descriptor)
        }
    }

    deinit {
        close(descriptor)
    }
}
