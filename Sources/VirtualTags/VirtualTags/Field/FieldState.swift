// SPDX-License-Identifier: Apache-2.0
import TagLink

/// The state of a virtual field: it takes a frame and returns what the reader receives.
struct FieldState: Sendable {
    struct Outcome {
        var record: ExchangeRecord
        var changedPresence = false
    }

    private(set) var tags: [any VirtualTag] = []
    /// The arrival number of each tag, by its index in `tags`.
    private var arrivals: [UInt64] = []
    private var lastArrival: UInt64 = 0
    var isCarrierOn = true
    var statistics = [LinkStatistics](repeating: .zero, count: Technology.allCases.count)
    var faults: ArmedFaults?
    var recording: [ExchangeRecord]?
    var recordingLimit = 0
    /// The number of commands that have programmed a tag's memory.
    var writes = 0

    /// Adds a tag without power.
    mutating func add(_ tag: any VirtualTag) {
        lastArrival += 1
        tags.append(tag)
        arrivals.append(lastArrival)
    }

    mutating func removeTag(at index: Int) {
        arrivals.remove(at: index)
        tags.remove(at: index).losePower()
    }

    mutating func removeAllTags() {
        for tag in tags { tag.losePower() }
        tags.removeAll()
        arrivals.removeAll()
    }

    /// Returns the arrival number of the tag with an identifier; nil when there is none.
    func arrival(of identifier: [UInt8]) -> UInt64? {
        tags.firstIndex { $0.answers(to: identifier) }.map { arrivals[$0] }
    }

    mutating func exchange(
        _ request: Frame,
        _ technology: Technology,
        timeout: Airtime,
        maximumFrameLength: Int
    ) -> Outcome {
        var record = ExchangeRecord(
            technology: technology,
            request: request,
            result: .failure(LinkError(.timeout, "No tag answered in time.")),
            elapsed: .zero
        )
        guard isCarrierOn else {
            record.result = .failure(LinkError(.readerUnavailable, "The carrier is off."))
            return Outcome(record: record)
        }
        let present = tags.count
        var fault = faults?.next()
        fault?.changeTags(in: &self)
        var answer = FieldAnswer()
        if fault?.isDeaf != true {
            answer = collect(request, technology, injectedFault: fault?.injectedFault)
        }
        if answer.isWrite {
            writes += 1
            faults?.countWrite()
            if case .powerCut = fault?.injectedFault {
                if fault?.keepsTags == true {
                    for tag in tags { tag.losePower() }
                } else {
                    removeAllTags()
                }
                answer.reply = .silence
            }
        }
        fault?.changeAnswer(&answer)

        var received: Frame?
        if answer.workTime <= timeout {
            record.result = answer.result(for: request, technology, maximumFrameLength: maximumFrameLength)
            received = record.response ?? answer.longest
        }
        let index = Int(technology.rawValue)
        let before = statistics[index]
        statistics[index].count(
            request: request,
            response: received,
            timing: FrameTiming(technology),
            timeout: timeout,
            tagWorkTime: answer.workTime
        )
        let spent = statistics[index] - before
        record.elapsed = spent.airtime + spent.tagWorkTime
        if recording != nil, recordingLimit > 0 {
            recordingLimit -= 1
            recording?.append(record)
        }
        return Outcome(record: record, changedPresence: present != tags.count || fault?.swapsTags == true)
    }

    /// Sends the request to every tag, and combines the answers.
    private func collect(_ request: Frame, _ technology: Technology, injectedFault: InjectedFault?) -> FieldAnswer {
        var all = FieldAnswer()
        for tag in tags where tag.technology == technology {
            guard let answer = tag.answer(request, injectedFault: injectedFault) else { continue }
            all.add(answer, technology)
        }
        return all
    }
}
