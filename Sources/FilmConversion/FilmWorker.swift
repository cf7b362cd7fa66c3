import CFilm
import ImageWorkerProtocol
import PhotoConversion

/// The body of `smilepile-film-worker`: a process that makes workers of itself, and each worker's one answer, as
/// ``/PhotoConversion/ImageWorker`` is for pictures.
public enum FilmWorker {
    /// Runs until the end of requests, and returns the process's exit status.
    public static func run() -> Int32 {
        ImageWorker.run(preparing: cfilm_prepare) { converter in
            let films = FilmConverter(converter: converter)
            return { request, descriptors throws(ImagingError) in try answer(request, descriptors, films) }
        }
    }

    private static func answer(
        _ request: WorkerRequest, _ descriptors: [Int32], _ films: FilmConverter
    ) throws(ImagingError) -> WorkerReply.Outcome {
        switch request {
        case .film:
            .film(
                try films.convert(
                    source: descriptors[0], poster: descriptors[1], thumbnail: descriptors[2], preview: descriptors[3]))
        case .readFacts: .facts(try films.readFacts(source: descriptors[0]))
        default: throw .io("a request that this worker does not know")
        }
    }
}
