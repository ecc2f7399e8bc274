// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
import NFCRuntime
import TagLink

/// The part that all reader sessions have in common. Use one of its subclasses.
///
/// One session is active at a time; one that begins meanwhile waits for its turn. A session lasts 60 seconds at most,
/// and never begins a second time. While it is active it is kept alive, and its delegate is held weakly.
///
/// The delegate's methods and all completion handlers are called on ``sessionQueue``.
open class NFCReaderSession: NSObject, NFCReaderSessionProtocol, @unchecked Sendable {
    // The class is Sendable because it has no other state than constants and what is locked.

    /// Whether this machine can read tags: it has a reader.
    open class var readingAvailable: Bool {
        if case .none = NFCEnvironment.current.reader { return false }
        return true
    }

    /// The queue on which the delegate and completion handlers are called: the one given, or a serial queue that the
    /// session makes for itself.
    public let sessionQueue: DispatchQueue

    let runtime: ReaderSession?
    let environment: NFCEnvironment
    let configuration: AppConfiguration
    private let delegateBox: WeakBox
    private let locals = Locked(Locals())

    private struct Locals {
        /// The session itself, while it is active.
        var keepAlive: NFCReaderSession?
        /// The text of a session without a reader, and the end of one that never came to the reader.
        var alertMessage = ""
        var hasEnded = false
    }

    /// Creates a session that looks for what `plan` says of the app's configuration.
    init(delegate: AnyObject, queue: DispatchQueue?, plan: (AppConfiguration) -> PollingPlan) {
        let queue = queue ?? DispatchQueue(label: "org.opencorenfc.readersession.delegate")
        let environment = NFCEnvironment.current
        sessionQueue = queue
        self.environment = environment
        let configuration = AppConfiguration.current
        self.configuration = configuration
        delegateBox = WeakBox(delegate)
        runtime = ReaderSession(environment: environment, plan: plan(configuration), queue: queue)
        super.init()
    }

    /// The delegate, which is held weakly.
    public weak var delegate: AnyObject? { delegateBox.object }

    // MARK: NFCReaderSessionProtocol

    open var isReady: Bool { runtime?.isActive ?? false }

    open var alertMessage: String {
        get { runtime?.alertMessage ?? locals.withLock { $0.alertMessage } }
        set {
            if let runtime {
                runtime.alertMessage = newValue
            } else {
                locals.withLock { $0.alertMessage = newValue }
            }
        }
    }

    /// What the app's configuration has to allow; nil when nothing has to be.
    var request: AppConfiguration.Request? { nil }

    open func begin() {
        if let request, !isReady, let error = ConfigurationGate.error(for: request, in: configuration) {
            return endLocally(error)
        }
        guard let runtime else { return endWithoutReader() }
        if runtime.hasEnded || locals.withLock({ $0.hasEnded }) { return }
        locals.withLock { $0.keepAlive = self }
        observe(runtime)
        runtime.begin()
    }

    open func invalidate() {
        end(errorMessage: nil)
    }

    open func invalidate(errorMessage: String) {
        end(errorMessage: errorMessage)
    }

    private func end(errorMessage: String?) {
        guard let runtime else { return endWithoutReader() }
        if runtime.hasEnded || locals.withLock({ $0.hasEnded }) { return }
        locals.withLock { $0.keepAlive = self }
        observe(runtime)
        runtime.invalidate(errorMessage: errorMessage)
    }

    // MARK: Events

    /// The session became active. Called on ``sessionQueue``.
    func didBecomeActive() {}

    /// Tags were found. Called on ``sessionQueue``.
    func didDetect(_ tags: [DetectedTag]) {}

    /// The session has ended. Called on ``sessionQueue``.
    func didEnd(_ error: NFCReaderError) {}

    private func observe(_ runtime: ReaderSession) {
        runtime.observe { [weak self] event in
            guard let self else { return }
            environment.call(on: sessionQueue) { self.deliver(event) }
        }
    }

    private func deliver(_ event: ReaderSession.Event) {
        switch event {
        case .becameActive: didBecomeActive()
        case .detected(let tags): didDetect(tags)
        case .ended(let end):
            didEnd(NFCReaderError(end))
            locals.withLock { $0.keepAlive = nil }
        }
    }

    /// A session without a reader ends as soon as it begins.
    private func endWithoutReader() {
        guard case .none(let reason) = environment.reader else { return }
        endLocally(NFCReaderError(.unsupported(reason: reason)))
    }

    /// Ends a session that never came to the reader, once.
    func endLocally(_ error: NFCReaderError) {
        let isFirst = locals.withLock { locals in
            defer { locals.hasEnded = true }
            return !locals.hasEnded
        }
        guard isFirst else { return }
        environment.call(on: sessionQueue) { [self] in didEnd(error) }
    }
}

/// A weak reference that can be kept in a Sendable class.
///
/// Sendable because the reference is set once and Swift reads weak references atomically; what it refers to is only
/// used on the session's queue.
final class WeakBox: @unchecked Sendable {
    weak let object: AnyObject?

    init(_ object: AnyObject?) {
        self.object = object
    }
}
