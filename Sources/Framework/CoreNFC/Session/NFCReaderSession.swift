// SPDX-License-Identifier: Apache-2.0
public import Dispatch
public import Foundation
import NFCReaders
import NFCSessions
import TagLink
import TagProtocols

/// The properties and methods that all reader sessions have in common.
public protocol NFCReaderSessionProtocol: NSObjectProtocol {
    /// Whether the session is active: its sheet is visible, and it has not ended.
    var isReady: Bool { get }

    /// The text on the scanning sheet. May be set before `begin()`, and at any time while the session is active, from
    /// any thread.
    var alertMessage: String { get set }

    /// Begins the session, or queues it behind the active session. Does nothing when the session has already ended.
    func begin()

    /// Ends the session and shows a check mark on the sheet. The delegate receives
    /// `readerSessionInvalidationErrorUserCanceled`.
    func invalidate()

    /// Ends the session and shows an error message on the sheet.
    ///
    /// - Parameter errorMessage: the text on the sheet.
    func invalidate(errorMessage: String)
}

/// The base class of all reader sessions. Use one of its subclasses.
///
/// Only one session is active at a time; other sessions wait for their turn. A session lasts at most 60 seconds and
/// can't begin a second time. The framework keeps an active session alive. The delegate is held weakly.
///
/// The delegate's methods and all completion handlers are called on ``sessionQueue``.
open class NFCReaderSession: NSObject, NFCReaderSessionProtocol {
    /// Whether this machine has a reader for tags.
    ///
    /// If not, the reason is written to standard error, once for each process.
    open class var readingAvailable: Bool {
        let environment = NFCEnvironment.current
        guard case .none(let reason) = environment.reader else { return true }
        environment.noticeOnce(reason)
        return false
    }

    /// The queue on which the delegate and completion handlers are called: the given queue, or a serial queue that the
    /// session creates.
    public let sessionQueue: DispatchQueue

    let runtime: ReaderSession?
    let environment: NFCEnvironment
    let configuration: AppConfiguration
    let number: Int
    private static let count = Locked(0)
    private let delegateBox: WeakBox
    private let delegateName: String
    private let locals = Locked(Locals())
    let mistakes: MisuseReporter

    private struct Locals {
        var hasBegun = false
        /// The alert message of a session without a reader, and whether a session that never used the reader has ended.
        var alertMessage = ""
        var hasEnded = false
        var isInvalidated = false
        /// Whether tags or messages were reported to the delegate.
        var hasDelivered = false
        /// The error of an active session that restarted polling for tags that the app's configuration does not allow.
        var error: NFCReaderError?
    }

    init(delegate: AnyObject, queue: DispatchQueue?, plan: PollingPlan) {
        let queue = queue ?? DispatchQueue(label: "org.opencorenfc.readersession.delegate")
        let environment = NFCEnvironment.current
        sessionQueue = queue
        self.environment = environment
        configuration = .current
        delegateBox = WeakBox(delegate)
        delegateName = "\(type(of: delegate))"
        runtime = ReaderSession(environment: environment, plan: plan, queue: queue)
        mistakes = runtime?.mistakes ?? MisuseReporter(environment: environment)
        number = Self.count.withLock { count in
            count += 1
            return count
        }
        super.init()
        environment.testContext?.made(self, as: .session)
        environment.testContext?.made(delegate, as: .delegate)
    }

    /// The delegate, which is held weakly.
    public weak var delegate: AnyObject? { delegateBox.object }

    // MARK: NFCReaderSessionProtocol

    open var isReady: Bool { runtime?.isActive ?? false }

    open var alertMessage: String {
        get { runtime?.alertMessage ?? locals.withLock { $0.alertMessage } }
        set {
            // A session may end by itself at any time, so setting a text after such an end is not a mistake.
            if isInvalidated { mistakes.add(.messageAfterEnd) }
            willUseSession()
            if let runtime {
                runtime.alertMessage = newValue
            } else {
                locals.withLock { $0.alertMessage = newValue }
            }
        }
    }

    /// The request that the app's configuration has to allow; nil for none.
    var request: AppConfiguration.Request? { nil }

    /// Why the session can't begin, regardless of the app's configuration; nil when it can.
    var refusal: NFCReaderError? { nil }

    /// Whether the app lists applications. If so, a card without any of these applications is not an ISO 7816 tag.
    var hasApplicationList: Bool { configuration.infoPlist != nil || configuration.isStrict }

    open func begin() {
        noteCall("begin() of \(type(of: self))")
        if hasEnded { return mistakes.add(.beginsAgain) }
        // A session that waits for its turn, or is active, has begun.
        if locals.withLock({ $0.hasBegun }) { return mistakes.add(.beginsTwice) }
        MainQueue.ask()
        noteBegin()
        if let error = refusal ?? request.flatMap({ effectiveConfiguration.error(for: $0, in: environment) }) {
            return refuse(error)
        }
        guard let runtime else { return endWithoutReader() }
        observe(runtime)
        runtime.begin()
    }

    private var hasEnded: Bool { runtime?.hasEnded == true || locals.withLock { $0.hasEnded } }

    open func invalidate() {
        noteCall("invalidate()")
        end(errorMessage: nil)
    }

    open func invalidate(errorMessage: String) {
        noteCall("invalidate(errorMessage: \"\(errorMessage)\")")
        end(errorMessage: errorMessage)
    }

    private func end(errorMessage: String?) {
        willUseSession()
        guard let runtime else { return endLocally(NFCReaderError(.userCanceled)) }
        if hasEnded { return }
        locals.withLock { $0.isInvalidated = true }
        observe(runtime)
        runtime.invalidate(errorMessage: errorMessage)
    }

    // MARK: Events

    /// The common beginning of the delegate's method names.
    var callbackName: String { "readerSession" }

    /// Whether the delegate conforms to its protocol in the current isolation, see ``Optional/conforms(to:)``.
    var delegateConformsHere: Bool { true }

    var isInvalidated: Bool { locals.withLock { $0.isInvalidated } }

    /// The app is about to use the session, perhaps in a delegate method that has not been reported yet.
    func willUseSession() {}

    /// The session became active. Called on ``sessionQueue``.
    func didBecomeActive() {}

    func didDetect(_ tags: [ConnectableTag]) {}

    /// The session has ended. Called on ``sessionQueue``.
    func didEnd(_ error: NFCReaderError) {}

    /// Delivers the events. The observer keeps the session alive until the runtime releases it after the last event.
    private func observe(_ runtime: ReaderSession) {
        locals.withLock { $0.hasBegun = true }
        let session = UncheckedSendableBox(self)
        runtime.observe { [environment, sessionQueue] event in
            session.value.noteInTrace(event)
            environment.call(on: sessionQueue) { session.value.deliver(event) }
        }
    }

    /// Notes an event in a test's trace when it happens, because the session goes on while its queue is busy.
    private func noteInTrace(_ event: ReaderSession.Event) {
        switch event {
        case .becameActive: noteCallInTrace(callbackName + "DidBecomeActive(_:)")
        case .detected: break
        case .ended(let end): noteEndInTrace(locals.withLock { $0.error } ?? NFCReaderError(end))
        }
    }

    private func deliver(_ event: ReaderSession.Event) {
        reportDelegate(before: event)
        switch event {
        case .becameActive:
            noteCallback(callbackName + "DidBecomeActive(_:)")
            didBecomeActive()
        case .detected(let tags):
            if delegate != nil { locals.withLock { $0.hasDelivered = true } }
            didDetect(tags)
        case .ended(let end):
            reportMissingReader(at: end)
            let error = locals.withLock { $0.error } ?? NFCReaderError(end)
            noteEnd(error)
            didEnd(error)
        }
    }

    func end(with error: NFCReaderError) {
        locals.withLock { $0.error = error }
        runtime?.fail(.unsupported(reason: error.localizedDescription))
    }

    private func endWithoutReader() {
        guard case .none(let reason) = environment.reader else { return }
        environment.noticeOnce(reason)
        refuse(NFCReaderError(.unsupported(reason: reason)))
    }

    private func refuse(_ error: NFCReaderError) {
        let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String ?? error.traceText
        environment.testContext?.note(ReaderSession.refusalNote + reason)
        endLocally(error)
    }

    /// Ends a session that has never used the reader. Later calls do nothing.
    func endLocally(_ error: NFCReaderError) {
        let isFirst = locals.withLock { locals in
            defer { locals.hasEnded = true }
            return !locals.hasEnded
        }
        guard isFirst else { return }
        noteEndInTrace(error)
        let session = UncheckedSendableBox(self)
        environment.call(on: sessionQueue) {
            session.value.noteEnd(error)
            session.value.didEnd(error)
        }
    }
}

/// Reports mistakes of an app that cause no error, here or on a phone.
extension NFCReaderSession {
    /// Reports a delegate that can't receive an event. Called on ``sessionQueue``.
    func reportDelegate(before event: ReaderSession.Event) {
        guard delegate != nil else {
            // An app that ended the session, or has received what it wanted, may release its delegate. A test that has
            // ended takes the delegate with it.
            let isDone = locals.withLock { $0.isInvalidated || $0.hasDelivered }
            if isDone || environment.testContext?.isOpen == false { return }
            return mistakes.add(.delegateReleased(delegateName))
        }
        // If the main thread has left the main queue to other threads, the Swift runtime does not recognize the main
        // actor there.
        guard !MainQueue.isCurrent, !delegateConformsHere else { return }
        mistakes.add(.delegateOfMainActor)
        if configuration.isStrict {
            AppConfiguration.endApp(APIMisuse.delegateOfMainActor.explanation, in: environment)
        }
    }

    /// Reports why the session's reader was missing, lost, or in use by another program. Many apps show only the
    /// error's text, which is always the same.
    func reportMissingReader(at end: SessionEnd) {
        if case .terminatedUnexpectedly(let reason) = end { environment.noticeOnce(reason) }
        if end == .timeout, let reason = runtime?.obstacle { environment.noticeOnce(reason) }
    }

    /// Connects to the tag of an object, if this session has found the tag.
    func connect(object tag: TagObject?, _ completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        let complete: @Sendable ((any Error)?) -> Void = { [environment, sessionQueue] error in
            environment.call(on: sessionQueue) { completionHandler(error) }
        }
        noteCall("connect(to:)")
        if let runtime, let tag, tag.handle.session === runtime {
            // Only its constants are used.
            let session = UncheckedSendableBox(self)
            return runtime.perform(
                on: tag.handle,
                connecting: .always,
                note: { "app: connect(to:) gets \(NFCReaderError.traceText(of: $0))" },
                { _ in },
                completion: { [handle = tag.handle] result in
                    let (index, error) = (
                        runtime.index(of: handle).map { [UInt8(clamping: $0)] } ?? [], result.readerError
                    )
                    session.value.report("connect", sent: index, received: handle.selectedApplication ?? [], error)
                    complete(error)
                }
            )
        }
        noteCall("connect(to:) gets error 3, because this session has not found the tag")
        if tag?.handle.session.hasEnded == true { mistakes.add(.tagOfOlderSession) }
        complete(NFCReaderError(.readerErrorInvalidParameter, reason: "The tag was not found by this session."))
    }

    /// Calls `work` after the work that a callback has put on the session's queue, and then after the work on the main
    /// queue. This gives the app time to set the sheet's text.
    ///
    /// - Parameter work: called on any thread, perhaps twice.
    func runAfterCallbackWork(_ work: @escaping @Sendable () -> Void) {
        environment.call(on: sessionQueue) { [environment] in
            MainQueue.runAfterCurrentWork(clock: environment.clock, work)
        }
    }
}

extension Optional where Wrapped == AnyObject {
    /// Whether an object conforms to a protocol in the current isolation. A conformance that is isolated to the main
    /// actor exists only on the main actor.
    ///
    /// This is generic, because for a cast to a known protocol the compiler emits a check that ignores isolation.
    @inline(never) func conforms<Delegate>(to delegate: Delegate.Type) -> Bool { self is Delegate }
}

/// Reports to a simulated phone, and applies its switches.
extension NFCReaderSession {
    /// The configuration without the declarations that the phone denies.
    var effectiveConfiguration: AppConfiguration {
        environment.host.map { configuration.without($0.withheld) } ?? configuration
    }

    /// Reports a call of the app's delegate, just before it.
    func noteCallback(_ name: String, _ detail: @autoclosure () -> String = "") {
        environment.host?.note(.callback(name: name, detail: detail()), of: number)
    }

    func report(_ name: String, sent: [UInt8] = [], received: [UInt8] = [], _ error: (any Error)? = nil) {
        let code = error.map { ($0 as? NFCReaderError)?.errorCode ?? 0 }
        environment.host?.note(.called(name: name, sent: sent, received: received, error: code), of: number)
    }

    func noteCall(_ call: String) { environment.testContext?.note("app: \(call)") }

    func noteCallInTrace(_ name: String, _ detail: @autoclosure () -> String = "") {
        guard let test = environment.testContext else { return }
        let detail = detail()
        test.note("delegate: \(name)\(detail.isEmpty ? "" : ", \(detail)")")
    }

    private func noteEndInTrace(_ error: NFCReaderError) {
        noteCallInTrace(callbackName + "(_:didInvalidateWithError:)", error.traceText)
    }

    func noteBegin() { environment.host?.note(.began("\(type(of: self))"), of: number) }

    func noteRestart() {
        noteCall("restartPolling()")
        if runtime?.isActive == true { environment.host?.note(.restarted, of: number) }
    }

    func noteEnd(_ error: NFCReaderError) {
        guard let host = environment.host else { return }
        let reason = "\(error.errorCode): \(error.localizedDescription)"
        host.note(.ended(reason), of: number)
        noteCallback(callbackName + "(_:didInvalidateWithError:)", reason)
    }
}

/// Finds out whether the program serves the main queue, and waits for work on that queue.
///
/// Not every program serves the main queue. The main thread of a command-line tool may block until the program ends, so
/// that blocks on the queue never run.
enum MainQueue {
    private enum Service: Sendable {
        /// No block has been put on the queue yet.
        case unknown
        /// A test block was put on the queue, and has not run yet.
        case asked
        case served
        /// A block has not run in time.
        case unserved
    }

    private static let service = Locked(Service.unknown)

    /// How long to wait for a block that runs late because the main thread is busy.
    private static let limit = Duration.seconds(1)

    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Whether the caller runs on the main queue, or on a queue that targets the main queue.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    /// Puts a test block on the queue, to find out early whether the program serves it.
    static func ask() {
        let isFirst = service.withLock { service in
            guard service == .unknown else { return false }
            service = .asked
            return true
        }
        guard isFirst else { return }
        DispatchQueue.main.async { service.withLock { $0 = .served } }
    }

    /// Calls `work` after the work that is on the queue now, or at once if the program does not serve the queue. Call
    /// ``ask()`` first.
    ///
    /// - Parameters:
    ///   - clock: the clock for the time limit, after which `work` is called in any case.
    ///   - work: called on any thread, perhaps twice.
    static func runAfterCurrentWork(clock: any RuntimeClock, _ work: @escaping @Sendable () -> Void) {
        guard service.withLock({ $0 != .unserved }) else { return work() }
        let timer = clock.schedule(after: limit) {
            service.withLock { if $0 != .served { $0 = .unserved } }
            work()
        }
        DispatchQueue.main.async {
            timer.cancel()
            work()
        }
    }
}
