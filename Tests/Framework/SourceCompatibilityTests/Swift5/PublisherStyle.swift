// SPDX-License-Identifier: Apache-2.0
import CoreNFC
import Foundation

// A wrapper in the style of Combine: subjects, operators and cancellables.

final class Subject<Output> {
    private var receivers: [UUID: (Result<Output, Error>) -> Void] = [:]

    func sink(_ receive: @escaping (Result<Output, Error>) -> Void) -> Cancellable {
        let id = UUID()
        receivers[id] = receive
        return Cancellable { [weak self] in self?.receivers[id] = nil }
    }

    func send(_ value: Output) { receivers.values.forEach { $0(.success(value)) } }
    func fail(_ error: Error) { receivers.values.forEach { $0(.failure(error)) } }
}

final class Cancellable {
    private let onCancel: () -> Void
    init(_ onCancel: @escaping () -> Void) { self.onCancel = onCancel }
    func cancel() { onCancel() }
}

final class NDEFPublisher: NSObject, NFCNDEFReaderSessionDelegate {
    let messages = Subject<[NFCNDEFMessage]>()
    private var session: NFCNDEFReaderSession?

    func start() {
        session = NFCNDEFReaderSession(delegate: self, queue: nil, invalidateAfterFirstRead: true)
        session?.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
        self.messages.send(messages)
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: Error) {
        messages.fail(error)
        self.session = nil
    }
}

final class TagPublisher: NSObject, NFCTagReaderSessionDelegate {
    let tags = Subject<NFCTag>()
    private lazy var session = NFCTagReaderSession(pollingOption: [.iso14443, .iso15693, .iso18092], delegate: self)

    func start() { session?.begin() }

    func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
    func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: Error) { tags.fail(error) }
    func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) { tags.forEach(self.tags.send) }
}
