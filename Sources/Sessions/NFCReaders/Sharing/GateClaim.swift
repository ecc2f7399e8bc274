// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import NFCSessions

/// A connection to the service's gate. While it is open, the app has the reader.
final class GateClaim: ReaderClaim, @unchecked Sendable {
    // Sendable because the variable is only changed while the claim is created, by its creator.
    var answer: (any DispatchSourceRead)?
    var limit: ScheduledEvent?
    private let descriptor: Int32

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Reports tags that the app's session has found. The service does not offer them again if they are still near
    /// afterwards.
    func note(_ identifiers: [[UInt8]]) {
        for identifier in identifiers where identifier.count <= ReaderGate.maximumIdentifier {
            ReaderGate.send([ReaderGate.tagMark, UInt8(identifier.count)] + identifier, to: descriptor)
        }
    }

    deinit {
        close(descriptor)
    }
}
