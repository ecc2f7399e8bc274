// SPDX-License-Identifier: Apache-2.0
import Dispatch
import LinuxSupport
import TagLink

extension SimulatorClient {
    /// Shows a screen now, and at the beginning of each later connection.
    ///
    /// - Parameter line: the request; nil when the app shows none any more.
    func show(_ line: [UInt8]?) {
        screen = line
        guard let line else { return }
        do throws(LinkError) {
            guard socket != nil else { return try open(nil) }
            try keepingConnection { () throws(LinkError) in
                try socket?.send(line, before: .now + patience, nil)
            }
        } catch {
            comeBackLater()
        }
    }

    /// An app with a screen returns to the phone when its simulator runs again.
    func comeBackLater() {
        guard screen != nil, !isReturning else { return }
        isReturning = true
        executor.queue.asyncAfter(deadline: .now() + Self.returnInterval) { [weak self] in
            self?.assumeIsolated { $0.comeBack() }
        }
    }

    func comeBack() {
        isReturning = false
        guard screen != nil else { return }
        do throws(LinkError) {
            try open(nil)
        } catch {
            comeBackLater()
        }
    }
}
