// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import TagProtocols

/// Sends the commands of a tag object through the session that found the tag.
final class RuntimeCommandChannel: TagCommandChannel {
    private let tag: DetectedTag

    init(_ tag: DetectedTag) {
        self.tag = tag
    }

    var clock: any RuntimeClock { tag.session.environment.clock }

    func transceive(
        _ packet: [UInt8],
        answer: AnswerTime,
        completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        refuse("The reader's side can't send the commands of an app yet.", completion)
    }

    func transmit(_ apdu: [UInt8], completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void) {
        refuse("The reader's side can't send an app's APDUs yet.", completion)
    }

    /// Fails as the state of the session and the tag says, and otherwise because the reader can't.
    private func refuse(
        _ reason: String,
        _ completion: @escaping @Sendable (Result<[UInt8], NFCReaderError>) -> Void
    ) {
        tag.session.perform(on: tag) { _ throws(TagError) -> [UInt8] in
            throw TagError(.unsupported, reason)
        } completion: { result in
            completion(result.mapError { NFCReaderError($0) })
        }
    }
}
