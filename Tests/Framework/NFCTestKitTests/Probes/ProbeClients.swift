// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import FoundationNetworking
import Glibc
import NFCTestKit

// The files of this folder are built in Swift 5 mode too, as the tests of many apps are.

/// A client that reads the link of a tag, with completion handlers as apps have them.
final class LinkReader: NSObject, NFCNDEFReaderSessionDelegate, @unchecked Sendable {
    // Sendable because everything is used on the session's queue, once it has begun.

    private let queue: DispatchQueue?
    private let read: @Sendable (LinkReader) -> Void
    private var session: NFCNDEFReaderSession?
    private var tag: (any NFCNDEFTag)?
    private var itself: LinkReader?
    private var completion: (@Sendable (Result<String, any Error>) -> Void)?
    /// The fields that the delegate's methods and completion handlers ran in.
    private(set) var fields: [TestField?] = []

    /// - Parameters:
    ///   - queue: the session's queue.
    ///   - read: called when a tag was found, in the delegate's method; it calls ``readLink()``, or has it called.
    init(queue: DispatchQueue? = nil, read: @escaping @Sendable (LinkReader) -> Void = { $0.readLink() }) {
        self.queue = queue
        self.read = read
    }

    func begin(_ completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
        self.completion = completion
        itself = self
        let session = NFCNDEFReaderSession(delegate: self, queue: queue, invalidateAfterFirstRead: false)
        self.session = session
        session.begin()
    }

    func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

    func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
        fields.append(TestField.current)
        tag = tags.first
        read(self)
    }

    /// Reads the link, and ends the session.
    func readLink() {
        guard let session, let tag else { return }
        session.connect(to: tag) { [self] error in
            fields.append(TestField.current)
            if let error { return finish(.failure(error)) }
            tag.readNDEF { [self] message, error in
                fields.append(TestField.current)
                guard let link = message?.records.first?.wellKnownTypeURIPayload()?.absoluteString else {
                    return finish(.failure(error ?? CocoaError(.formatting)))
                }
                finish(.success(link))
            }
        }
    }

    func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
        finish(.failure(error))
        self.session = nil
        tag = nil
        itself = nil
    }

    private func finish(_ result: Result<String, any Error>) {
        guard let completion else { return }
        self.completion = nil
        switch result {
        case .success: session?.invalidate()
        case .failure: session?.invalidate(errorMessage: "Hold the card still, and try again.")
        }
        completion(result)
    }
}

/// How a client comes to make its session.
enum Way: String, CaseIterable, Sendable {
    case mainQueue, globalQueue, ownQueue, barrier, workItem, group, notification, delay, timer, operation
    case task, detachedTask, thread, cThread, delegate

    private static let queue = DispatchQueue(label: "client", attributes: .concurrent)
    private static let operations = OperationQueue()

    /// Does something in this way.
    func perform(_ work: @escaping @Sendable () -> Void) {
        switch self {
        case .mainQueue: DispatchQueue.main.async(execute: work)
        case .globalQueue: DispatchQueue.global(qos: .utility).async(execute: work)
        case .ownQueue: DispatchQueue(label: "client of its own").async(execute: work)
        case .barrier: Self.queue.async(qos: .userInitiated, flags: .barrier, execute: work)
        case .workItem: Self.queue.async(execute: DispatchWorkItem(block: work))
        case .group: Self.queue.async(group: DispatchGroup(), execute: work)
        case .notification:
            let group = DispatchGroup()
            Self.queue.async(group: group) { usleep(1000) }
            group.notify(queue: Self.queue, execute: work)
        case .delay: DispatchQueue.main.asyncAfter(deadline: .now() + 0.5, execute: work)
        case .timer: OneShot.begin(work)
        case .operation: Self.operations.addOperation(work)
        case .task: Task { work() }
        case .detachedTask: Task.detached { work() }
        case .thread: Thread.detachNewThread(work)
        case .cThread: CThread.begin(work)
        case .delegate:
            LinkReader { reader in
                DispatchQueue.main.async(execute: work)
                reader.readLink()
            }.begin { _ in }
        }
    }

    /// A thread that is begun without Foundation.
    private final class CThread {
        private let work: @Sendable () -> Void
        private init(_ work: @escaping @Sendable () -> Void) { self.work = work }

        static func begin(_ work: @escaping @Sendable () -> Void) {
            var thread = pthread_t()
            let context = unsafe Unmanaged.passRetained(CThread(work)).toOpaque()
            let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
                if let context = unsafe context {
                    unsafe Unmanaged<CThread>.fromOpaque(context).takeRetainedValue().work()
                }
                return nil
            }
            if unsafe pthread_create(&thread, nil, body, context) == 0 { pthread_detach(thread) }
        }
    }

    /// A timer that fires once, and holds itself until then.
    private final class OneShot: @unchecked Sendable {
        // Sendable because it is used by the timer's queue alone, once it is activated.
        private var timer: (any DispatchSourceTimer)?

        static func begin(_ work: @escaping @Sendable () -> Void) {
            let itself = OneShot()
            let timer = DispatchSource.makeTimerSource()
            timer.schedule(deadline: .now() + 0.05)
            timer.setEventHandler {
                itself.timer = nil
                work()
            }
            itself.timer = timer
            timer.activate()
        }
    }
}

/// A server of the same machine that thinks before it answers.
final class SlowServer: Sendable {
    private let socket: Int32
    private let port: UInt16

    /// - Parameter seconds: how long it thinks.
    init(thinkingFor seconds: Double = 1.3) {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(socket, pointer, length)
                unsafe getsockname(socket, pointer, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        listen(socket, 8)
        Thread.detachNewThread {
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0 else { return }
                Thread.sleep(forTimeInterval: seconds)
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ndone"
                _ = unsafe [UInt8](answer.utf8).withUnsafeBytes { unsafe write(connection, $0.baseAddress, $0.count) }
                close(connection)
            }
        }
    }

    deinit { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Asks, and calls something with the answer.
    ///
    /// - Returns: what ends the request sooner.
    @discardableResult func ask(_ done: @escaping @Sendable (String?) -> Void) -> @Sendable () -> Void {
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else {
            done(nil)
            return {}
        }
        let session = URLSession(configuration: .ephemeral)
        let request = session.dataTask(with: url) { data, _, _ in
            done(data.map { String(decoding: $0, as: UTF8.self) })
        }
        request.resume()
        session.finishTasksAndInvalidate()
        return { request.cancel() }
    }
}

/// Sleeps in real time, whatever the field's time is.
func sleepInRealTime(milliseconds: Int) {
    var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    unsafe nanosleep(&time, nil)
}
