// SPDX-License-Identifier: Apache-2.0
import Foundation
import NDEF
import NFCSessions
import TagProtocols

extension TagObject {
    func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {
        perform({ tag throws(TagError) -> NDEFDetection? in
            do throws(TagError) {
                return try await tag.detectNDEF()
            } catch {
                guard error.meansNotNDEF else { throw error }
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
        handle.session.perform(on: handle, procedure) { [self] result in
            call { completion(result) }
        }
    }
}

extension TagError {
    /// The same error; or "not writable" when the tag is not formatted, because there is nothing to write to.
    var ofUnwritableTag: TagError {
        meansNotNDEF ? TagError(.readOnly, reason, link: link) : self
    }
}
