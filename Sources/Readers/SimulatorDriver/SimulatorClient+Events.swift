// SPDX-License-Identifier: Apache-2.0
import LinuxSupport
import TagLink
import TextSafety

/// What the simulator sends by itself.
extension SimulatorClient {
    func handleEventsLater() {
        guard !events.isEmpty else { return }
        executor.async { [weak self] in self?.assumeIsolated { $0.handleEvents() } }
    }

    func handleEvents() {
        // A handler may make a request, with which further events come.
        while !events.isEmpty {
            let event = events.removeFirst()
            switch event.string("event") {
            case "presence":
                known.withLock { $0.arrivals = [:] }
                tellObservers()
            case "switches": known.withLock { $0.switches = SimulatorSwitches(event) }
            case "cancel": known.withLock { $0.onCancel }?()
            case "press":
                guard let item = event.string("item") else { break }
                known.withLock { $0.onPress }?(item)
            case "link":
                guard let link = SimulatorLinkEvent(event) else { break }
                handle(link)
            // Later versions may have more events.
            default: break
            }
        }
    }

    func handle(_ link: SimulatorLinkEvent) {
        let handler = known.withLock { known in
            if known.onLink == nil {
                known.waitingLinks.append(link)
                if known.waitingLinks.count > Self.maximumWaitingLinks { known.waitingLinks.removeFirst() }
            }
            return known.onLink
        }
        handler?(link)
    }
}
