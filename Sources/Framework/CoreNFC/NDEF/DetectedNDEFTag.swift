// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import NDEF
import NFCRuntime
import TagProtocols

/// A tag that a session found, as the app sees it.
class DetectedNDEFTag: NSObject, NFCNDEFTag, @unchecked Sendable {
    // Sendable because its own properties are constant; subclasses lock their state.
    let detected: DetectedTag
    /// Where completion handlers are called.
    let queue: DispatchQueue

    init(_ detected: DetectedTag, queue: DispatchQueue) {
        self.detected = detected
        self.queue = queue
    }

    /// The tag as a phone prints it, with the name of its kind.
    override var description: String {
        let address = UInt(bitPattern: ObjectIdentifier(self).hashValue)
        return "<\(kind): 0x\(String(address, radix: 16))>"
    }

    /// The name that a phone prints for the kind.
    var kind: String { "NFCNDEFTag" }

    var isAvailable: Bool { detected.isConnected }

    /// Calls a completion handler.
    func call(_ work: @escaping @Sendable () -> Void) {
        detected.session.environment.call(on: queue, work)
    }

    func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {
        perform({ tag throws(TagError) -> NDEFDetection? in
            do throws(TagError) {
                return try await tag.detectNDEF()
            } catch {
                guard error.meansNotFormatted else { throw error }
                return nil
            }
        }) { result in
            switch result {
            case .success(.some(let found)):
                completionHandler(found.access == .readWrite ? .readWrite : .readOnly, found.capacity, nil)
            case .success(.none): completionHandler(.notSupported, 0, nil)
            case .failure(.tag(let error)) where error.code == .unsupported: completionHandler(.notSupported, 0, nil)
            case .failure(let error): completionHandler(.notSupported, 0, NFCReaderError(error))
            }
        }
    }

    func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void) {
        perform({ tag throws(TagError) in try await tag.readNDEF() }) { result in
            switch result {
            case .success(let bytes) where bytes.isEmpty:
                completionHandler(nil, NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage))
            case .success(let bytes):
                do throws(NDEFError) {
                    completionHandler(try NFCNDEFMessage(parsing: bytes), nil)
                } catch {
                    completionHandler(nil, NFCReaderError(damagedMessage: error))
                }
            case .failure(let error): completionHandler(nil, NFCReaderError(error))
            }
        }
    }

    func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        let bytes: [UInt8]
        do throws(NDEFError) {
            bytes = try ndefMessage.encoded()
        } catch {
            let error = NFCReaderError(unwritableMessage: error)
            return call { completionHandler(error) }
        }
        perform({ tag throws(TagError) in
            do throws(TagError) {
                try await tag.writeNDEF(bytes)
            } catch {
                throw error.ofUnwritableTag
            }
        }) { result in completionHandler(result.readerError) }
    }

    func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        perform({ tag throws(TagError) in
            do throws(TagError) {
                try await tag.lock()
            } catch {
                throw error.ofUnwritableTag
            }
        }) { result in completionHandler(result.readerError) }
    }

    private func perform<Value: Sendable>(
        _ procedure: @escaping @Sendable (any ForumTag) async throws(TagError) -> Value,
        completion: @escaping @Sendable (Result<Value, CommandError>) -> Void
    ) {
        detected.session.perform(on: detected, procedure) { [self] result in
            call { completion(result) }
        }
    }

    // MARK: NSCopying, NSSecureCoding

    func copy(with zone: NSZone?) -> Any { self }

    class var supportsSecureCoding: Bool { true }

    /// Does nothing: a tag object stands for a tag in the field and can't be stored.
    func encode(with coder: NSCoder) {}

    required init?(coder: NSCoder) { nil }
}

extension TagError {
    /// Whether the tag is present but does not hold NDEF.
    var meansNotFormatted: Bool {
        switch code {
        case .noCapabilityContainer, .noMessageTLV, .badVersion, .lengthOverrun, .badChecksum, .writeInProgress: true
        default: false
        }
    }

    /// The same error; or "not writable" when the tag is not formatted, because there is nothing to write to.
    var ofUnwritableTag: TagError {
        meansNotFormatted ? TagError(.readOnly, reason, link: link) : self
    }
}
