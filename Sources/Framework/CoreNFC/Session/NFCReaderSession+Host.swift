// SPDX-License-Identifier: Apache-2.0
import Foundation
import NFCSessions
import TagLink

/// What a phone around the reader learns of a session, and what it withholds from the app.
extension NFCReaderSession {
    /// The configuration without what the phone withholds.
    var effectiveConfiguration: AppConfiguration {
        environment.host.map { configuration.without($0.withheld) } ?? configuration
    }

    /// Reports a call of the app's delegate, just before it.
    ///
    /// - Parameters:
    ///   - name: the method.
    ///   - detail: what the app gets with it.
    func noteCallback(_ name: String, _ detail: @autoclosure () -> String = "") {
        environment.host?.note(.callback(name: name, detail: detail()), of: number)
    }

    func noteBegin() { environment.host?.note(.began("\(type(of: self))"), of: number) }

    /// Reports that the app looks for tags again. It does not when the session is not active.
    func noteRestart() {
        if runtime?.isActive == true { environment.host?.note(.restarted, of: number) }
    }

    func noteEnd(_ error: NFCReaderError) {
        guard let host = environment.host else { return }
        let reason = "\(error.errorCode): \(error.localizedDescription)"
        host.note(.ended(reason), of: number)
        noteCallback(callbackName + "(_:didInvalidateWithError:)", reason)
    }
}

/// Numbers the sessions of a process, from 1.
enum SessionNumber {
    private static let last = Locked(0)

    static func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
