//! Named arrays, models and configurations.

use taugraph::Config;
use taugraph::arrays::Arrays;
use taugraph::model::Model;
use taugraph::points::Points;
use taugraph::progress::Run;

/// Any bytes, and any bytes as header and values of a file whose length of the header is right. A model that is read can place a point.
pub fn model(bytes: &[u8]) {
    use_model(bytes);
    let n_header = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let mut file = (n_header as u64).to_le_bytes().to_vec();
    file.extend_from_slice(bytes);
    let known = Arrays::from_bytes(&file);
    let stream = Arrays::read(&mut &file[..], None);
    assert_eq!(known.is_ok(), stream.is_ok());
    if let Ok((text, arrays)) = known {
        let again =
            Arrays::from_bytes(&arrays.to_bytes(&text).expect("it was read")).expect("it was written");
        assert_eq!(again.0, text);
        use_model(&file);
    }
}

fn use_model(bytes: &[u8]) {
    let Ok(model) = Model::from_bytes(bytes) else { return };
    let saved = model.to_bytes().expect("it was read");
    assert_eq!(Model::from_bytes(&saved).expect("it was written").to_bytes().expect("it was read"), saved);
    let d = model.n_raw_columns();
    if let Ok((point, _)) = model.prepare(&vec![0.5; d], d) {
        place(&model, &point);
    }
}

fn place(model: &Model, point: &Points) {
    let _ = model.place(point, &Run::new(0).with_memory_limit(Some(1 << 28)));
}

/// A configuration as JSON, as --config has it, and assignments, one for each line, as --set has them.
pub fn config(bytes: &[u8]) {
    if let Ok(json) = serde_json::from_slice(bytes)
        && let Ok(config) = Config::from_json(&json)
    {
        let _ = config.check();
        assert_eq!(Config::from_json(&config.to_json()).expect("it was written").to_json(), config.to_json());
    }
    let mut config = Config::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        let _ = config.assign(line);
    }
    let _ = config.check();
}
